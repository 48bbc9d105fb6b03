#include "actors/gateway/model_list.hpp"

#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {

namespace {

void write_model(JsonWriter& json, const ModelEntry& model) {
  json.open_object();
  json.key("id").text(model.id);
  json.key("object").text("model");
  json.key("created").number(model.created);
  json.key("owned_by").text("troupe");
  json.key("max_model_len").number(model.context_tokens);
  json.close_object();
}

}  // namespace

std::string models_body(std::span<const ModelEntry> models) {
  JsonWriter json;
  json.open_object().key("object").text("list").key("data").open_array();
  for (const ModelEntry& model : models) write_model(json, model);
  json.close_array().close_object();
  return json.take();
}

}  // namespace troupe
