#include "actors/gateway/model_list.hpp"

#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {

namespace {

void write_openai(JsonWriter& json, const ModelEntry& model) {
  json.open_object();
  json.key("id").text(model.id);
  json.key("object").text("model");
  json.key("created").number(std::int64_t{0});
  json.key("owned_by").text("troupe");
  json.key("max_model_len").number(model.context_tokens);
  json.close_object();
}

/// Anthropic's documentation: the beginning of 1970 stands for a date that is not known.
void write_anthropic(JsonWriter& json, const ModelEntry& model) {
  json.open_object();
  json.key("type").text("model");
  json.key("id").text(model.id);
  json.key("display_name").text(model.id);
  json.key("created_at").text("1970-01-01T00:00:00Z");
  json.close_object();
}

std::string openai_list(std::span<const ModelEntry> models) {
  JsonWriter json;
  json.open_object().key("object").text("list").key("data").open_array();
  for (const ModelEntry& model : models) write_openai(json, model);
  json.close_array().close_object();
  return json.take();
}

std::string anthropic_list(std::span<const ModelEntry> models) {
  JsonWriter json;
  json.open_object().key("data").open_array();
  for (const ModelEntry& model : models) write_anthropic(json, model);
  json.close_array().key("has_more").boolean(false);
  json.key("first_id").text_or_null(models.empty() ? "" : models.front().id);
  json.key("last_id").text_or_null(models.empty() ? "" : models.back().id);
  json.close_object();
  return json.take();
}

}  // namespace

std::string models_body(std::span<const ModelEntry> models, recipe::Protocol protocol) {
  return protocol == recipe::Protocol::kMessages ? anthropic_list(models) : openai_list(models);
}

std::string model_body(const ModelEntry& model, recipe::Protocol protocol) {
  JsonWriter json;
  if (protocol == recipe::Protocol::kMessages) {
    write_anthropic(json, model);
  } else {
    write_openai(json, model);
  }
  return json.take();
}

}  // namespace troupe
