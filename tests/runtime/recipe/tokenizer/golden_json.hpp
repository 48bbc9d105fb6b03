// Reads a file of golden data.
#pragma once

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <fstream>
#include <sstream>
#include <string>

namespace troupe::test {

/// Requires: the file exists.
inline void parse_file(const std::string& path, rapidjson::Document& out) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  out.Parse(text.str().c_str());
  ASSERT_FALSE(out.HasParseError()) << path;
}

}  // namespace troupe::test
