// The answer as text and as JSON.
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdio>

#include "tools/plan/plan_answer.hpp"

namespace troupe {

std::string plan_text(const PlanAnswer& answer) {
  std::string out;
  for (const PlanFact& fact : answer.facts) {
    char text[160];
    std::snprintf(text, sizeof text, "%-46s %14.*f\n", (fact.title + ":").c_str(), fact.decimals,
                  fact.value);
    out += text;
  }
  for (const std::string& warning : answer.warnings) out += "Note: " + warning + "\n";
  return out;
}

std::string plan_json(const PlanAnswer& answer) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  for (const PlanFact& fact : answer.facts) json.Key(fact.key.c_str()), json.Double(fact.value);
  json.Key("notes"), json.StartArray();
  for (const std::string& warning : answer.warnings) json.String(warning.c_str());
  json.EndArray();
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace troupe
