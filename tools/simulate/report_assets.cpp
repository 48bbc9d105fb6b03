#include "tools/simulate/report_assets.hpp"

// The assembler takes whole files in at no cost; CMake says where they are and which targets they
// change.
#define TROUPE_FILE(name, path)                                                           \
  __asm__(".section .rodata\n" #name "_begin:\n.incbin \"" path "\"\n" #name              \
          "_end:\n.byte 0\n.previous\n.global " #name "_begin\n.global " #name "_end\n"); \
  extern "C" const char name##_begin[];                                                   \
  extern "C" const char name##_end[]

TROUPE_FILE(troupe_report_page, TROUPE_REPORT_PAGE);
TROUPE_FILE(troupe_chart_js, TROUPE_CHART_JS);

namespace troupe {

std::string_view report_page_html() {
  return {troupe_report_page_begin,
          static_cast<std::size_t>(troupe_report_page_end - troupe_report_page_begin)};
}

std::string_view chart_js() {
  return {troupe_chart_js_begin,
          static_cast<std::size_t>(troupe_chart_js_end - troupe_chart_js_begin)};
}

}  // namespace troupe
