// bench_simulate [--json] [--quick] [--conversation FILE] [--agentic FILE]
#include <rapidjson/document.h>

#include <cstdlib>
#include <fstream>

#include "runtime/base/huge_pages.hpp"
#include "tests/bench/simulate/figures.hpp"

namespace troupe::bench {

std::vector<TraceLine> read_trace(const std::string& file) {
  std::ifstream stream(file);
  std::vector<TraceLine> lines;
  std::string text;
  while (std::getline(stream, text)) {
    rapidjson::Document line;
    line.Parse(text.data(), text.size());
    if (!line.IsObject() || !line.HasMember("timestamp") || !line.HasMember("input_length")) {
      std::fprintf(stderr, "bench_simulate: %s:%zu is no request\n", file.c_str(),
                   lines.size() + 1);
      std::exit(1);
    }
    TraceLine one;
    one.at = line["timestamp"].GetDouble() / 1e3;
    one.input = line["input_length"].GetUint();
    one.output = line["output_length"].GetUint();
    if (line.HasMember("hash_ids")) {
      for (const auto& id : line["hash_ids"].GetArray()) one.blocks.push_back(id.GetUint64() + 1);
    }
    lines.push_back(std::move(one));
  }
  if (lines.empty()) {
    std::fprintf(stderr, "bench_simulate: there is nothing in %s\n", file.c_str());
    std::exit(1);
  }
  return lines;
}

namespace {

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  std::string conversation, agentic;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "--conversation") conversation = argv[i + 1];
    if (std::string_view(argv[i]) == "--agentic") agentic = argv[i + 1];
  }
  (void)use_huge_pages();  // as the command does
  std::vector<Figure> figures = world_figures(arguments.quick);
  figures.push_back(growth_figure(arguments.quick));
  if (!conversation.empty()) {
    for (Figure& figure : router_figures(conversation)) {
      figures.push_back(std::move(figure));
    }
  }
  if (!agentic.empty()) {
    figures.push_back(spread_figure(read_trace(agentic), arguments.quick));
  }
  figures.push_back(budget_figure());
  return report(std::move(figures), arguments.json);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  return troupe::bench::run(argc, argv);
}
