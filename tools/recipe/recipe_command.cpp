#include "tools/recipe/recipe_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/assert.hpp"
#include "tools/cli/cli.hpp"
#include "tools/model/catalogue.hpp"
#include "tools/model/store.hpp"
#include "tools/recipe/run_vector.hpp"
#include "tools/recipe/vector_check.hpp"

namespace troupe {
namespace {

struct Options {
  LabOptions lab;
  std::string compat = "default";
  std::string protocol = "chat";
  std::uint32_t threads = 1;
  std::uint64_t shown = 10;
  bool text = false;
  std::vector<std::string> files;
};

Result<std::string> read_input(const std::string& path) {
  if (path == "-") return std::string{std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Code::kNotFound, "cannot read " + path};
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

Result<RecipeLab> open_lab(const Options& options) {
  LabOptions lab = options.lab;
  lab.compat = options.compat == "deepseek" ? recipe::Compat::kDeepseek : recipe::Compat::kDefault;
  lab.threads = options.threads;
  TROUPE_TRY_ASSIGN(StoreOptions store_options, store_options_from_environment());
  lab.pulled = [store = ModelStore(std::move(store_options))](std::string_view model,
                                                              PulledFile file) {
    const auto known = find_known_model(model);
    TROUPE_ASSERT(known.ok(), "the store knows what the lab calls pulled");
    return file == PulledFile::kTokenizer ? store.path_of(*known) : store.pack_path_of(*known);
  };
  return RecipeLab::open(std::move(lab));
}

/// Calls `each` with every vector of the files.
Status for_each_vector(const Options& options, const std::function<Status(const Vector&)>& each) {
  std::vector<std::string> files = options.files;
  if (files.empty()) files.emplace_back("-");
  const auto protocol = find_protocol(options.protocol);
  for (const std::string& path : files) {
    TROUPE_TRY_ASSIGN(const std::string text, read_input(path));
    const std::string name = path == "-" ? "stdin" : path;
    TROUPE_TRY_ASSIGN(const auto vectors,
                      read_vectors(text, protocol.value_or(recipe::Protocol::kChat), name));
    for (const Vector& vector : vectors) {
      const Status status = each(vector);
      if (!status.ok()) {
        return Error{status.error().code, vector.place() + ": " + status.error().message};
      }
    }
  }
  return ok_status();
}

/// What went in, as members of a vector.
std::string input_of(const Vector& vector) {
  const JsonTape& tape = vector.tape();
  if (vector.is_plain()) {
    std::string line = "\"kind\": \"encode\", \"protocol\": \"";
    line.append(to_string(vector.protocol())).append("\", \"input\": {\"request\": ");
    tape.print(JsonDocument::kRoot, kPromptJsonV4, line);
    return line + "}, ";
  }
  std::string line;
  for (const char* name : {"id", "kind", "protocol", "model", "input"}) {
    const auto member = tape.find(JsonDocument::kRoot, name);
    if (member == JsonTape::kNone) continue;
    append_json_string(line, name);
    line += ": ";
    tape.print(member, kPromptJsonV4, line);
    line += ", ";
  }
  return line;
}

/// The vector with what came out as what it expects: only the members in `names`, but all of a
/// refusal.
void print_result(const Vector& vector, const VectorResult& result,
                  const std::vector<std::string_view>& names) {
  std::string line = "{" + input_of(vector) + "\"expect\": {";
  const bool refused = find_member(result, "stage") != nullptr;
  bool any = false;
  for (const auto& [name, json] : result) {
    if (!refused && std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (std::exchange(any, true)) line += ", ";
    append_json_string(line, name);
    line += ": " + json;
  }
  std::cout << line << "}}\n";
}

/// A subcommand that shows what comes of vectors of some kinds.
struct Show {
  const char* command;
  const char* about;
  std::vector<VectorKind> kinds;
  std::vector<std::string_view> names;  ///< of a result's members
  bool with_ids = false;
  /// With --text; null if there is no such form.
  Result<std::string> (*text)(const Vector&, RecipeLab&) = nullptr;
};

std::string words(const std::vector<VectorKind>& kinds) {
  std::string all;
  for (const VectorKind kind : kinds) all.append(all.empty() ? "" : ", ").append(to_string(kind));
  return all;
}

Status show(const Show& how, const Options& options, const Vector& vector, RecipeLab& lab) {
  if (std::find(how.kinds.begin(), how.kinds.end(), vector.kind()) == how.kinds.end()) {
    const std::string found = vector.is_plain()
                                  ? "a request"
                                  : "a vector of kind " + std::string(to_string(vector.kind()));
    return Error{Code::kInvalid, "recipe " + std::string(how.command) + " shows vectors of kind " +
                                     words(how.kinds) + ", found " + found};
  }
  if (options.text) {
    TROUPE_TRY_ASSIGN(const std::string text, how.text(vector, lab));
    std::cout << text;
    return ok_status();
  }
  TROUPE_TRY_ASSIGN(const VectorResult result, run_vector(vector, lab, how.with_ids));
  print_result(vector, result, how.names);
  return ok_status();
}

int show_all(const Show& how, const Options& options) {
  auto lab = open_lab(options);
  if (!lab.ok()) return cli::report(lab.error());
  const Status status = for_each_vector(
      options, [&](const Vector& vector) { return show(how, options, vector, *lab); });
  return status.ok() ? cli::kOk : cli::report(status.error());
}

/// A prompt has no line end of its own.
Result<std::string> prompt_line(const Vector& vector, RecipeLab& lab) {
  TROUPE_TRY_ASSIGN(std::string text, prompt_text(vector, lab, isatty(STDOUT_FILENO) != 0));
  return text + "\n";
}

const std::vector<Show>& shows() {
  using enum VectorKind;
  static const std::vector<Show> all{
      {"encode",
       "Token ids of requests",
       {kEncode, kError, kTokenize},
       {"token_ids", "plain_ids", "full_vocab_ids"},
       true},
      {"render",
       "Prompts of requests, and what in them is special",
       {kEncode, kError},
       {"prompt", "special_ranges_bytes", "image_sources", "converted"},
       false,
       prompt_line},
      {"parse",
       "Events of streams of chunks",
       {kStream},
       {"steps", "finished", "error", "done_data", "response"},
       false,
       events_text},
  };
  return all;
}

int check(const Options& options) {
  auto lab = open_lab(options);
  if (!lab.ok()) return cli::report(lab.error());
  VectorCheck check(*lab);
  const Status status =
      for_each_vector(options, [&](const Vector& vector) { return check.check(vector); });
  check.report(std::cout, options.shown);
  if (!status.ok()) return cli::report(status.error());
  return check.failures().empty() ? cli::kOk : cli::kFailure;
}

cli::Command add(cli::Command& recipe, const char* name, const char* about, Options& options) {
  cli::Command command = recipe.command(name, about);
  command.option("FILES", options.files, "JSON or JSON Lines; - or none: stdin");
  command.option("--model", options.lab.model,
                 "how every request is encoded: deepseek-v4, deepseek-v4.1, smollm2, chatml "
                 "(default: by the request's model)");
  command.option("--tokenizer", options.lab.tokenizer, "tokenizer.json or GGUF (default: pulled)")
      .value_name("FILE");
  command.option("--prompt-pack", options.lab.prompt_pack, "boiler-plate (default: pulled)")
      .value_name("FILE");
  command.option("--compat", options.compat, "deepseek: as the reference does, quirks included")
      .one_of({"default", "deepseek"})
      .show_default();
  command.option("--protocol", options.protocol, "of a plain request body")
      .one_of({"chat", "responses", "messages"})
      .show_default();
  command.option("--threads", options.threads, "that encode one prompt")
      .between(1, 1024)
      .show_default();
  return command;
}

}  // namespace

void add_recipe_command(cli::Command& program) {
  cli::Command recipe = program.command("recipe", "Prompts, token ids and answers, offline");
  recipe.require_command();
  const auto options = std::make_shared<Options>();

  for (const Show& how : shows()) {
    cli::Command command = add(recipe, how.command, how.about, *options);
    if (how.text != nullptr) {
      command.flag("--text", options->text, "as it is, instead of JSON: the prompt, the events");
    }
    command.run([options, &how] { return show_all(how, *options); });
  }
  cli::Command check_command = add(recipe, "check", "Vectors: passed or failed, and why", *options);
  check_command.option("--show", options->shown, "differences to print").show_default();
  check_command.run([options] { return check(*options); });
}

}  // namespace troupe
