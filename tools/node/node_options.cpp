#include "tools/node/node_options.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace troupe {

namespace {

constexpr std::uintmax_t kLargestFile = 1 << 20;

std::string help_text(const config::Field& field) {
  std::string text = field.doc + "; " + field.expectation();
  if (!field.unit.empty()) text += ", in " + field.unit;
  return text + " [" + field.current() + "]";
}

}  // namespace

NodeOptions::NodeOptions(cli::Command& command) {
  command.option("--config", config_file_, "YAML file of settings [the built-in laptop.yaml]")
      .variable("TROUPE_CONFIG")
      .value_name("FILE");
  command.flag("--dump-config", dump_, "print the settings in effect, with their sources");
  config::NodeConfig defaults;
  config::Schema schema;
  config::bind_node_config(schema, defaults);
  for (const auto& field : schema.fields()) {
    Given& given = given_.emplace_back(Given{field->flag, "", std::nullopt});
    const std::string help = help_text(*field);
    given.option = field->is_bool()
                       ? command.toggle(field->flag, given.text, help)
                       : command.option("--" + field->flag, given.text, help).value_name("");
    given.option->group(std::string(config::section_of(field->path)));
  }
}

Result<config::LoadedNodeConfig> NodeOptions::load() const {
  config::Inputs inputs;
  if (config_file_.empty()) {
    inputs.files.push_back({"laptop.yaml", std::string(config::laptop_yaml()), true});
  } else {
    TROUPE_TRY_ASSIGN(auto file, read_config_file(config_file_));
    inputs.files.push_back(std::move(file));
  }
  inputs.environment = config::process_environment();
  for (const Given& given : given_) {
    if (given.option->given()) inputs.flags.push_back({given.flag, given.text});
  }
  return config::load_node_config(inputs);
}

Result<config::ConfigText> read_config_file(const std::string& path) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(path, failure);
  if (failure) {
    return Error{Code::kNotFound, path + ": cannot read this configuration file (" +
                                      failure.message() +
                                      "); troupe node --dump-config prints one to start from"};
  }
  if (size > kLargestFile) return Error{Code::kTooLarge, path + ": larger than 1 MiB"};
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) return Error{Code::kIo, path + ": cannot read this configuration file"};
  return config::ConfigText{path, std::move(text)};
}

}  // namespace troupe
