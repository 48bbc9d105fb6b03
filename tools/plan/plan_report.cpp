// The answer as text and as JSON.
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdio>

#include "tools/plan/plan_answer.hpp"
#include "tools/plan/simulated_answer.hpp"

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

namespace {

void put_trials(rapidjson::Writer<rapidjson::StringBuffer>& json, const SimulatedAnswer& answer) {
  json.StartObject();
  json.Key("sentence"), json.String(answer.sentence.c_str());
  json.Key("best");
  if (answer.best) {
    json.Uint64(*answer.best);
  } else {
    json.Null();
  }
  json.Key("trials"), json.StartArray();
  for (const PoolTrial& trial : answer.trials) {
    json.StartObject();
    json.Key("prefill_gpus"), json.Uint(trial.layout.prefill_gpus());
    json.Key("decode_gpus"), json.Uint(trial.layout.decode_gpus());
    json.Key("holds"), json.Bool(trial.holds);
    for (const PlanFigure& figure : trial.outcome.figures()) {
      json.Key(figure.key), json.Double(figure.value);
    }
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace

std::string plan_json(const PlanAnswer& answer, const SimulatedAnswer* simulated) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  for (const PlanFact& fact : answer.facts) json.Key(fact.key.c_str()), json.Double(fact.value);
  json.Key("notes"), json.StartArray();
  for (const std::string& warning : answer.warnings) json.String(warning.c_str());
  json.EndArray();
  if (simulated != nullptr) json.Key("simulated"), put_trials(json, *simulated);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace troupe
