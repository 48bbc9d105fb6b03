// The command line: subcommands, options and flags, over CLI11.
//
// CLI11 is headers only and costs each file that includes it seconds to compile; command.cpp is the
// one that does. Nothing here but what the subcommands use.
//
//   Command command = program.command("traffic", "Load a server");
//   command.option("--format", format, "table to print").one_of({"vllm", "aiperf"}).show_default();
//   command.run([&] { return kOk; });
//
// Ownership: an option writes into its variable while the line is parsed: it must outlive that.
// Handles (Command, Option) are small and live as long as their Program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace troupe::cli {

class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& one_of(std::vector<std::string> words);
  Option& between(double least, double most);
  Option& required();
  /// A list: several values may follow one flag, as in `--goodput ttft:450 tpot:5`.
  Option& takes_words();
  /// Read from this variable where the flag is not given.
  Option& variable(const std::string& name);
  /// What the help calls the value, e.g. FILE; "" for nothing.
  Option& value_name(const std::string& name);
  Option& group(const std::string& name);
  /// The help shows the variable's value of now.
  Option& show_default();

  bool given() const;
  bool takes_value() const;
  /// As written, e.g. "--port".
  std::string name() const;
  /// The last text that was given. Requires: given().
  std::string text() const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  Command(CLI::App& app, int& exit_code) : app_(&app), exit_code_(&exit_code) {}

  Command command(const std::string& name, const std::string& about);
  /// The flags of its own that were given, as written: a subcommand may have no use for them.
  std::vector<std::string> given() const;
  /// Exactly one of its subcommands must be named.
  void require_command();

  /// "--port", "-n,--count", or "NAME" for a positional one.
  Option option(const std::string& names, std::string& value, const std::string& about);
  Option option(const std::string& names, double& value, const std::string& about);
  Option option(const std::string& names, std::uint64_t& value, const std::string& about);
  Option option(const std::string& names, std::uint32_t& value, const std::string& about);
  Option option(const std::string& names, bool& value, const std::string& about);
  /// Given any number of times, each time with one value; a positional one takes all that is left.
  Option option(const std::string& names, std::vector<std::string>& value,
                const std::string& about);
  Option flag(const std::string& name, bool& value, const std::string& about);
  /// --NAME and --no-NAME, as the text "true" or "false".
  Option toggle(const std::string& name, std::string& value, const std::string& about);

  /// What it does if none of its subcommands is named; the result is the program's exit code.
  void run(std::function<int()> work);
  std::string help() const;

 private:
  CLI::App* app_;
  int* exit_code_;
};

class Program {
 public:
  Program(const std::string& name, const std::string& about);
  ~Program();

  Command& root() { return *root_; }
  /// What --version prints.
  void version(const std::string& text);
  /// Parses the line and runs the command that it names; --help prints. The error says why the line
  /// was refused: the unknown word, what it probably should be, and where help is.
  Result<int> run(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  int exit_code_ = 0;
  std::unique_ptr<Command> root_;
};

}  // namespace troupe::cli
