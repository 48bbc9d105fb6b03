#include "tools/model/model_command.hpp"

#include <iostream>
#include <memory>
#include <string>

#include "tools/cli/cli.hpp"
#include "tools/model/store.hpp"

namespace troupe {

namespace {

int exit_code_of(const Status& status) {
  return status.ok() ? cli::kOk : cli::report(status.error());
}

}  // namespace

void add_model_command(cli::Command& program) {
  cli::Command model = program.command("model", "Fetch, list and describe models");
  model.require_command();
  const auto name = std::make_shared<std::string>();

  cli::Command pull = model.command("pull", "Fetch a model into the cache and check its hash");
  pull.option("NAME", *name, "a known name, see 'troupe model list'").required();
  pull.run([name] { return exit_code_of(model_pull(*name, std::cout)); });

  model.command("list", "Known models, and which of them are here").run([] {
    return exit_code_of(model_list(std::cout));
  });

  cli::Command show = model.command("show", "What a model file holds");
  show.option("MODEL", *name, "a known name, a GGUF file or a tokenizer.json").required();
  show.run([name] { return exit_code_of(model_show(*name, std::cout)); });
}

}  // namespace troupe
