#include "tools/cli/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "runtime/base/nearest.hpp"
#include "tools/cli/cli.hpp"
#include "tools/cli/foreign_flags.hpp"
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

/// Whether the command takes words that are no flags.
bool takes_words(const CLI::App& command) {
  const auto options = command.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_positional(); });
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
    } else if (!takes_words(*stop.command)) {
      stop.word = argument;
    }
  }
  return stop;
}

std::string near_name(const std::string& word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  const std::size_t dashes = std::min(word.find_first_not_of('-'), word.size());
  const std::size_t allowed = typo_distance(std::string_view(word).substr(dashes));
  if (!near || edit_distance(word, *near) > allowed) return "";
  return "; the nearest is " + *near;
}

std::string about_flag(const Stop& stop) {
  std::string message = "unknown flag " + config::in_quotes(stop.word);
  if (const ForeignFlag* foreign = find_foreign_flag(stop.word)) {
    if (foreign->ours.empty()) return message.append("; not there: ").append(foreign->because);
    if (find_option(stop.command, std::string(foreign->ours)) != nullptr) {
      return message.append("; here it is ").append(foreign->ours);
    }
  }
  return message + near_name(stop.word, flag_names(*stop.command));
}

/// `node smollm2`: what such a word usually is.
std::string about_word(const Stop& stop) {
  const bool is_file = stop.word.ends_with(".yaml") || stop.word.ends_with(".yml");
  const std::string flag = is_file ? "--config" : "--model";
  std::string message = "unexpected word " + config::in_quotes(stop.word);
  if (find_option(stop.command, flag) == nullptr) return message;
  return message + "; did you mean " + flag + " " + stop.word + "?";
}

std::string explain(const CLI::App& app, const CLI::ParseError& failure, int argc,
                    const char* const* argv) {
  const Stop stop = find_stop(app, argc, argv);
  const std::string help = "\n(" + stop.path + " --help lists what there is)";
  if (stop.word.empty()) return failure.what() + help;
  if (stop.word.starts_with("-")) return about_flag(stop) + help;
  const auto commands = subcommand_names(*stop.command);
  if (commands.empty()) return about_word(stop) + help;
  return "unknown subcommand " + config::in_quotes(stop.word) + near_name(stop.word, commands) +
         help;
}

}  // namespace

Option& Option::one_of(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return *this;
}
Option& Option::between(double least, double most) {
  // CLI11's own range prints its limits in the digits of a double.
  const auto check = [least, most](const std::string& text) {
    const auto number = config::parse_real(text);
    if (number.ok() && *number >= least && *number <= most) return std::string();
    return fmt::format("expected a number from {} to {}, found {}", least, most,
                       config::in_quotes(text));
  };
  option_->check(check, "");
  option_->description(option_->get_description() + fmt::format(" ({} to {})", least, most));
  return *this;
}
Option& Option::required() {
  option_->required();
  return *this;
}
Option& Option::takes_words() {
  option_->allow_extra_args(true);
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
std::vector<std::string> Command::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() > 0) names.push_back(option->get_name());
  }
  return names;
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
  CLI::Option* option = app_->add_option(names, value, about);
  if (!option->get_positional()) option->allow_extra_args(false);
  return Option(*option);
}
Option Command::flag(const std::string& name, bool& value, const std::string& about) {
  return Option(*app_->add_flag(name, value, about));
}
Option Command::toggle(const std::string& name, std::string& value, const std::string& about) {
  return Option(*app_->add_flag("--" + name + ",!--no-" + name, value, about));
}
void Command::run(std::function<int()> work) {
  app_->callback([app = app_, work = std::move(work), exit_code = exit_code_] {
    // CLI11 calls the parent of a subcommand that was named, too.
    if (app->get_subcommands().empty()) *exit_code = work();
  });
}
std::string Command::help() const {
  return app_->help();
}

Program::Program(const std::string& name, const std::string& about)
    : app_(std::make_unique<CLI::App>(about, name)),
      root_(std::make_unique<Command>(*app_, exit_code_)) {}

Program::~Program() = default;

void Program::version(const std::string& text) {
  app_->set_version_flag("--version", text);
}

Result<int> Program::run(int argc, const char* const* argv) {
  exit_code_ = kOk;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    if (failure.get_exit_code() == 0) return app_->exit(failure);  // --help, --version
    return Error{Code::kInvalid, explain(*app_, failure, argc, argv)};
  }
  return exit_code_;
}

}  // namespace troupe::cli
