#include <gtest/gtest.h>

#include "runtime/recipe/request/schema_validity.hpp"
#include "runtime/recipe/request/strict_schema.hpp"

namespace troupe::recipe::schema_test {
namespace {

std::string invalid(const std::string& json) {
  const auto document = JsonDocument::parse(json);
  if (!document) return "no JSON";
  return invalid_schema(document->tape(), JsonDocument::kRoot).value_or("valid");
}

std::string strict(const std::string& json, SchemaUse use = SchemaUse::kTool) {
  const auto document = JsonDocument::parse(json);
  if (!document) return "no JSON";
  std::string out;
  const auto why = print_strict_schema(document->tape(), JsonDocument::kRoot, use, out);
  return why ? *why : out;
}

TEST(SchemaValidity, valid_schemas_pass) {
  for (const std::string good :
       {"true", "{}", R"({"type":"object"})", R"({"type":["string","null"]})",
        R"({"properties":{"type":{"enum":[]}},"required":["a","b"],"minLength":2.0})",
        R"({"$ref":"#/$defs/a~1b/items/0","$defs":{"a/b":{"items":[{}]}},"$schema":
           "http://json-schema.org/draft-07/schema#"})",
        R"({"dependencies":{"a":["b"],"c":{}},"zzz":5})"}) {
    EXPECT_EQ(invalid(good), "valid") << good;
  }
}

TEST(SchemaValidity, the_first_fault_is_told) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", R"([] is not of types "boolean", "object")"},
      {R"({"properties":{"a":5}})", R"(5 is not of types "boolean", "object")"},
      {R"({"anyOf":[]})", "[] has less than 1 item"},
      {R"({"minLength":-1})", "-1 is less than the minimum of 0"},
      {R"({"minLength":1.5})", R"(1.5 is not of type "integer")"},
      {R"({"multipleOf":0})", "0 is less than or equal to the minimum of 0"},
      {R"({"required":["a","a"]})", R"(["a","a"] has non-unique elements)"},
      {R"({"title":5,"minimum":"x"})", R"("x" is not of type "number")"},
      {R"({"not":{"type":"zz"},"type":"yy"})",
       R"("zz" is not valid under any of the schemas listed in the 'anyOf' keyword)"},
      {R"({"items":[{}]})", R"([{}] is not of types "boolean", "object")"},
      {R"({"$ref":"#/zz"})", "Pointer '/zz' does not exist"}};
  for (const auto& [json, why] : cases) EXPECT_EQ(invalid(json), why) << json;
}

TEST(StrictSchema, objects_require_all_and_allow_no_more) {
  EXPECT_EQ(strict(R"({"title":"t","required":["b","a"],"properties":{"a":{"type":"string",
                   "minLength":1,"pattern":"p"},"b":{"type":["null","string"]}},"type":"object"})"),
            R"({"type":"object","properties":{"a":{"type":"string","pattern":"p"},)"
            R"("b":{"type":["null","string"]}},"additionalProperties":false,)"
            R"("required":["a","b"]})");
  EXPECT_EQ(strict(R"({"type":"object"})"),
            R"({"type":"object","properties":{},"additionalProperties":false,"required":[]})");
}

TEST(StrictSchema, schemas_nest) {
  EXPECT_EQ(strict(R"({"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[
                   {"type":"object","properties":{"x":{"$ref":"#/$defs/y"}}},{"type":"null"}]}}},
                   "$defs":{"y":{"type":"number"}}})"),
            R"({"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[)"
            R"({"type":"object","properties":{"x":{"$ref":"#/$defs/y"}},)"
            R"("additionalProperties":false,"required":["x"]},{"type":"null"}]}}},)"
            R"("additionalProperties":false,"required":["a"]})");
}

TEST(StrictSchema, faults_are_told) {
  const std::string head = R"({"type":"object","properties":)";
  const std::pair<std::string, std::string> cases[] = {
      {head + R"({"a":{"type":"object"}}})", "An object with no properties is not allowed."},
      {head + R"({"a":{"type":"null"}},"required":[]})",
       "Required properties must match all properties in the object"},
      {head + R"({"a":{"type":"null"}},"required":["b"]})",
       "Required property 'b' not found in object"},
      {head + R"({"a":{"type":"null"}},"required":["a","a"]})", "Duplicate required property 'a'"},
      {head + R"({"a":{"type":"null"}},"additionalProperties":true})",
       "additionalProperties should not be true"},
      {head + R"({"a":{"enum":[1]}}})",
       "Invalid tool parameters schema : one of `type`, "
       "`anyOf`, `$ref` field is required"},
      {head + R"({"a":{"type":"array"}}})",
       "Invalid tool parameters schema : missing field `items`"},
      {R"({"type":"string"})",
       "The top level of the function parameters schema must be an object."}};
  for (const auto& [json, why] : cases) EXPECT_EQ(strict(json), why) << json;
  EXPECT_EQ(strict(R"({"type":"object"})", SchemaUse::kResponseFormat),
            "An object with no properties is not allowed.");
}

}  // namespace
}  // namespace troupe::recipe::schema_test
