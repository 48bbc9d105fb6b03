// What the configuration tests share: loading from texts given inline.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/config/node_schema.hpp"

namespace troupe::config::testing {

inline Result<LoadedNodeConfig> load(const std::string& yaml, Environment environment = {},
                                     std::vector<FlagValue> flags = {}) {
  return load_node_config({{{"dir/x.yaml", yaml}}, std::move(environment), std::move(flags)});
}

/// The message of the refusal; fails the test if the text is accepted.
inline std::string refusal(const std::string& yaml, Environment environment = {},
                           std::vector<FlagValue> flags = {}) {
  const auto loaded = load(yaml, std::move(environment), std::move(flags));
  EXPECT_FALSE(loaded.ok()) << yaml;
  return loaded.ok() ? "" : loaded.error().message;
}

inline void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in:\n" << text;
}

}  // namespace troupe::config::testing
