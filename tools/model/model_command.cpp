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

void add_model_command(CLI::App& app, int& exit_code) {
  CLI::App* model = app.add_subcommand("model", "Fetch, list and describe models");
  model->require_subcommand(1);
  const auto name = std::make_shared<std::string>();

  CLI::App* pull = model->add_subcommand("pull", "Fetch a model into the cache and check its hash");
  pull->add_option("NAME", *name, "a known name, see 'troupe model list'")->required();
  pull->callback([name, &exit_code] { exit_code = exit_code_of(model_pull(*name, std::cout)); });

  model->add_subcommand("list", "Known models, and which of them are here")->callback([&exit_code] {
    exit_code = exit_code_of(model_list(std::cout));
  });

  CLI::App* show = model->add_subcommand("show", "What a model file holds");
  show->add_option("MODEL", *name, "a known name or a GGUF file")->required();
  show->callback([name, &exit_code] { exit_code = exit_code_of(model_show(*name, std::cout)); });
}

}  // namespace troupe
