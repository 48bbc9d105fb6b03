# Build rules shared by every target: flags, sanitizers, precompiled headers, and the functions that
# define a library, a test, a fuzz target and a benchmark.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

set(TROUPE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

option(TROUPE_PCH "Precompile the headers of others (off: each file must include what it uses)" ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # What ccache wants to know before it trusts a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()
if(TROUPE_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)
elseif(TROUPE_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# Warnings are errors, but not in a project of others: its compiler may know more of them than ours.
set(warnings_are_errors "")
if(PROJECT_IS_TOP_LEVEL)
  set(warnings_are_errors -Werror)
endif()
add_compile_options(-Wall -Wextra -Wpedantic ${warnings_are_errors}
                    -Wno-missing-field-initializers -fno-omit-frame-pointer)
# An assertion names its file from the root, on whatever machine it was compiled.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
# GCC 12's warnings from data flow see faults in std::string and std::variant that are not there
# (its bugs 105329, 105562, 105593, 105651); the sanitizer builds look for the real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-maybe-uninitialized
                      -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# Where several .cpp are compiled as one, GCC takes their unnamed namespaces for a header's.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
  add_compile_options(-Wno-subobject-linkage)
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
    add_compile_options(-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizers.ignore)
  endif()
endif()

# What a sanitizer build is for: its tests and fuzz targets, without the program.
add_custom_target(troupe_tests)
add_custom_target(troupe_fuzzers)

# Tests are compiled for their build time; what they test is optimized as ever.
set(TROUPE_TEST_OPTIONS -O1)
if(TROUPE_SANITIZE)
  set(TROUPE_TEST_OPTIONS -O0)
endif()

# One precompiled header a kind of target, of external headers only: a change of ours rebuilds what
# includes it and no more.
function(troupe_pch name)
  if(TROUPE_PCH)
    file(WRITE ${PROJECT_BINARY_DIR}/${name}.cpp "")
    add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cpp)
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
endfunction()
function(troupe_use_pch target name)
  if(TROUPE_PCH)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
set(standard_headers <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring>
  <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <set> <span> <sstream>
  <string> <string_view> <thread> <utility> <variant> <vector>)
troupe_pch(troupe_pch_library ${standard_headers})

# troupe_library(NAME [OWN_FLAGS] [SOURCES ...] DEPS ...): the library of the current folder.
# Without SOURCES every .cpp of the folder belongs to it. OWN_FLAGS: it adds compiler flags. Headers are included from the root:
# #include "runtime/base/result.hpp".
function(troupe_library name)
  cmake_parse_arguments(ARG "OWN_FLAGS" "" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_compile_features(${name} PUBLIC cxx_std_20)
    target_link_libraries(${name} PUBLIC ${ARG_DEPS})
    if(ARG_OWN_FLAGS)
      # A precompiled header is only good for files with its flags.
    else()
      troupe_use_pch(${name} troupe_pch_library)
    endif()
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_compile_features(${name} INTERFACE cxx_std_20)
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
  target_compile_options(${name} PRIVATE ${TROUPE_TEST_OPTIONS})
  # Most of a test's compile time is what it includes; a few files at a time share that.
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  troupe_use_pch(${name} troupe_pch_test)
  add_dependencies(troupe_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "TROUPE_SOURCE=${PROJECT_SOURCE_DIR}")
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
