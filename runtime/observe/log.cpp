#include "runtime/observe/log.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

namespace troupe::logging {

namespace {

std::atomic<bool> json_lines{false};

void line(spdlog::level::level_enum level, std::string_view event, std::string_view text) {
  auto* logger = spdlog::default_logger_raw();
  if (!logger->should_log(level)) return;
  if (!json_lines) {
    logger->log(level, "{} {}", event, text);
    return;
  }
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  auto put = [&](std::string_view key, std::string_view value) {
    json.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
    json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  json.StartObject();
  const auto name = spdlog::level::to_string_view(level);
  put("level", {name.data(), name.size()});
  put("event", event);
  put("text", text);
  json.EndObject();
  // The pattern of start() opens the object with the time.
  logger->log(level, "{}", std::string_view(buffer.GetString() + 1, buffer.GetSize() - 1));
}

}  // namespace

void start(std::string_view level, bool json) {
  auto logger = spdlog::stderr_color_mt("troupe");
  const std::string name = level == "warn" ? "warning" : std::string(level);
  logger->set_level(spdlog::level::from_str(name));
  logger->set_pattern(json ? R"({"ts":"%Y-%m-%dT%H:%M:%S.%e%z",%v)" : "%H:%M:%S.%e %^%L%$ %v");
  json_lines = json;
  spdlog::set_default_logger(std::move(logger));
}

void info(std::string_view event, std::string_view text) {
  line(spdlog::level::info, event, text);
}
void warn(std::string_view event, std::string_view text) {
  line(spdlog::level::warn, event, text);
}
void error(std::string_view event, std::string_view text) {
  line(spdlog::level::err, event, text);
}

}  // namespace troupe::logging
