// Files that are part of the program: the report's page, and Debian's Chart.js.
#pragma once

#include <string_view>

namespace troupe {

std::string_view report_page_html();
std::string_view chart_js();

}  // namespace troupe
