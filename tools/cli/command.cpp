#include "tools/cli/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string_view>

#include "tools/cli/cli.hpp"
#include "tools/config/nearest.hpp"
#include "tools/config/scalar.hpp"

namespace troupe::cli {

namespace {

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The innermost subcommand that was recognised, and the first word that it does not know.
struct Stop {
  const CLI::App* command;
  std::string path;
  std::string word;
};

/// An option of the command, or of those around it (see Command::command).
const CLI::Option* find_option(const CLI::App* command, const std::string& name) {
  for (; command != nullptr; command = command->get_parent()) {
    if (const CLI::Option* option = command->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

Stop find_stop(const CLI::App& app, int argc, const char* const* argv) {
  Stop stop{&app, app.get_name(), ""};
  for (int i = 1; i < argc && stop.word.empty(); ++i) {
    const std::string_view argument(argv[i]);
    const std::string name(argument.substr(0, argument.find('=')));
    if (name.starts_with("-")) {
      const CLI::Option* option = find_option(stop.command, name);
      if (option == nullptr) {
        stop.word = name;
      } else if (name.size() == argument.size() && option->get_expected_max() > 0) {
        ++i;  // its value
      }
    } else if (const CLI::App* next = subcommand(*stop.command, name)) {
      stop.command = next;
      stop.path += " " + name;
    } else if (!stop.command->get_subcommands({}).empty()) {
      stop.word = name;
    }
  }
  return stop;
}

std::string explain(const CLI::App& app, const CLI::ParseError& failure, int argc,
                    const char* const* argv) {
  const Stop stop = find_stop(app, argc, argv);
  const std::string help = "\n(" + stop.path + " --help lists what there is)";
  if (stop.word.empty()) return failure.what() + help;
  const bool is_flag = stop.word.starts_with("-");
  const auto known = is_flag ? flag_names(*stop.command) : subcommand_names(*stop.command);
  std::string message = is_flag ? "unknown flag " : "unknown subcommand ";
  message += config::in_quotes(stop.word);
  if (const auto near = config::nearest(stop.word, known)) message += "; the nearest is " + *near;
  return message + help;
}

}  // namespace

Option& Option::one_of(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return *this;
}
Option& Option::between(double least, double most) {
  // CLI11 would print the range as a part of the type, in the digits of a double.
  option_->check(CLI::Range(least, most).description(""));
  option_->description(option_->get_description() + fmt::format(" ({} to {})", least, most));
  return *this;
}
Option& Option::required() {
  option_->required();
  return *this;
}
Option& Option::variable(const std::string& name) {
  option_->envname(name);
  return *this;
}
Option& Option::value_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}
Option& Option::group(const std::string& name) {
  option_->group(name);
  return *this;
}
Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}
bool Option::given() const {
  return option_->count() > 0;
}
bool Option::takes_value() const {
  return option_->get_expected_max() > 0;
}
std::string Option::name() const {
  return option_->get_name();
}
std::string Option::text() const {
  return option_->results().back();
}

Command Command::command(const std::string& name, const std::string& about) {
  CLI::App* command = app_->add_subcommand(name, about);
  command->fallthrough();  // `admin ps --url U` is `admin --url U ps`
  return Command(*command, *exit_code_);
}
void Command::require_command() {
  app_->require_subcommand(1);
}
Option Command::option(const std::string& names, std::string& value, const std::string& about) {
  return Option(*app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, double& value, const std::string& about) {
  return Option(*app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, std::uint64_t& value, const std::string& about) {
  return Option(*app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, std::uint32_t& value, const std::string& about) {
  return Option(*app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, bool& value, const std::string& about) {
  return Option(*app_->add_option(names, value, about));
}
Option Command::option(const std::string& names, std::vector<std::string>& value,
                       const std::string& about) {
  return Option(*app_->add_option(names, value, about));
}
Option Command::flag(const std::string& name, bool& value, const std::string& about) {
  return Option(*app_->add_flag(name, value, about));
}
Option Command::toggle(const std::string& name, std::string& value, const std::string& about) {
  return Option(*app_->add_flag("--" + name + ",!--no-" + name, value, about));
}
void Command::run(std::function<int()> work) {
  app_->callback([work = std::move(work), exit_code = exit_code_] { *exit_code = work(); });
}
std::string Command::help() const {
  return app_->help();
}

Program::Program(const std::string& name, const std::string& about)
    : app_(std::make_unique<CLI::App>(about, name)),
      root_(std::make_unique<Command>(*app_, exit_code_)) {}

Program::~Program() = default;

Result<int> Program::run(int argc, const char* const* argv) {
  exit_code_ = kOk;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    if (failure.get_exit_code() == 0) return app_->exit(failure);  // --help
    return Error{Code::kInvalid, explain(*app_, failure, argc, argv)};
  }
  return exit_code_;
}

}  // namespace troupe::cli
