#include "tools/cli/cli.hpp"

#include <cstdio>
#include <string_view>
#include <vector>

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

Stop find_stop(const CLI::App& app, int argc, const char* const* argv) {
  Stop stop{&app, app.get_name(), ""};
  for (int i = 1; i < argc && stop.word.empty(); ++i) {
    const std::string_view argument(argv[i]);
    const std::string name(argument.substr(0, argument.find('=')));
    if (name.starts_with("--")) {
      if (stop.command->get_option_no_throw(name) == nullptr) stop.word = name;
    } else if (const CLI::App* next = subcommand(*stop.command, name)) {
      stop.command = next;
      stop.path += " " + name;
    } else if (!stop.command->get_subcommands({}).empty()) {
      stop.word = name;
    }
  }
  return stop;
}

}  // namespace

int report(const Error& error) {
  std::string_view rest = error.message;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    std::fprintf(stderr, "troupe: %.*s\n", static_cast<int>(line.size()), line.data());
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return error.code == Code::kInvalid ? kUsage : kFailure;
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

}  // namespace troupe::cli
