# Build rules shared by every target: flags, sanitizers, and the two functions that define
# a library (one a folder) and a test (one a folder).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

set(TROUPE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers
                    -fno-omit-frame-pointer)
# GCC 12 sees an overlap in "literal" + std::string that is not there (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict)
endif()
# RapidJSON 1.1 predates the comparisons that C++20 rewrites.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wno-ambiguous-reversed-operator)
endif()
# Fuzz targets learn from the coverage of what they call, so that everything is instrumented.
if(TROUPE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(TROUPE_SANITIZE)
  add_compile_options(-fsanitize=${TROUPE_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TROUPE_SANITIZE})
  if(TROUPE_SANITIZE MATCHES "undefined")
    add_compile_options(-fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/cmake/sanitizers.ignore)
  endif()
endif()

# What a sanitizer build is for: its tests and fuzz targets, without the program.
add_custom_target(troupe_tests)
add_custom_target(troupe_fuzzers)

# troupe_library(NAME [SOURCES ...] DEPS ...): the library of the current folder.
# Without SOURCES every .cpp of the folder belongs to it. Headers are included from the root:
# #include "runtime/base/result.hpp".
function(troupe_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# troupe_test(NAME LABEL kind DEPS ...): one GoogleTest program from the *_test.cpp of the folder.
function(troupe_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  add_dependencies(troupe_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "TROUPE_SOURCE=${CMAKE_SOURCE_DIR}")
endfunction()

# troupe_fuzz(NAME SOURCE DEPS ...): a libFuzzer target, built only with TROUPE_FUZZ (clang).
function(troupe_fuzz name source)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  if(TROUPE_FUZZ)
    add_executable(${name} ${source})
    add_dependencies(troupe_fuzzers ${name})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  endif()
endfunction()

# troupe_bench(NAME DEPS ...): a benchmark program from the *_bench.cpp of the folder.
function(troupe_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(TROUPE_BENCH)
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  endif()
endfunction()
