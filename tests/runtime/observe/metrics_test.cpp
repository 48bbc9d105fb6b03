#include "runtime/observe/metrics.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace troupe {
namespace {

ActorRef actor(std::uint64_t local) {
  return ActorRef{NodeId(0), 1, local, 1};
}

effect::Note note(effect::NoteKind kind, const char* name, double value, std::string text = {}) {
  return {kind, name, value, std::make_shared<const std::string>(std::move(text))};
}

TEST(Metrics, CountersAddAndGaugesOfTwoRanksStandBesideEachOther) {
  Metrics metrics("m");
  metrics.note(actor(1), note(effect::NoteKind::kCount, "vllm:generation_tokens_total", 3));
  metrics.note(actor(2), note(effect::NoteKind::kCount, "vllm:generation_tokens_total", 4));
  metrics.note(actor(1), note(effect::NoteKind::kGauge, "vllm:num_requests_running", 5));
  metrics.note(actor(2), note(effect::NoteKind::kGauge, "vllm:num_requests_running", 6));
  const std::string page = metrics.render();
  EXPECT_NE(page.find("vllm:generation_tokens_total{model_name=\"m\"} 7"), std::string::npos);
  EXPECT_NE(page.find("vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 5"),
            std::string::npos);
  EXPECT_NE(page.find("vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 6"),
            std::string::npos);
}

TEST(Metrics, LabelsAreEscaped) {
  Metrics metrics("a\"b\\c\nd");
  metrics.note(actor(1), note(effect::NoteKind::kCount, "vllm:prompt_tokens_total", 1));
  EXPECT_NE(metrics.render().find("model_name=\"a\\\"b\\\\c\\nd\""), std::string::npos);
}

TEST(Metrics, AnUnknownNameIsAWiringFault) {
  Metrics metrics("m");
  EXPECT_THROW(metrics.note(actor(1), note(effect::NoteKind::kCount, "troupe_nonsense", 1)),
               AssertionFailure);
}

/// Every name that a core notes is in the table, with the kind that it is noted as.
TEST(Metrics, KnowWhatCoresNote) {
  const char* source = std::getenv("TROUPE_SOURCE");
  ASSERT_NE(source, nullptr) << "run through ctest, or set TROUPE_SOURCE to the project";
  const std::regex call(R"re(out\.(count|gauge|observe)\(\s*"([^"]+)")re");
  Metrics metrics("m");
  std::size_t names = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(source) + "/actors")) {
    if (entry.path().extension() != ".cpp") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string code = text.str();
    for (std::sregex_iterator at(code.begin(), code.end(), call), end; at != end; ++at) {
      const std::string method = (*at)[1], name = (*at)[2];
      const auto kind = method == "count"   ? effect::NoteKind::kCount
                        : method == "gauge" ? effect::NoteKind::kGauge
                                            : effect::NoteKind::kObserve;
      EXPECT_NO_THROW(metrics.note(actor(1), note(kind, name.c_str(), 1))) << entry.path() << name;
      ++names;
    }
  }
  EXPECT_GT(names, 20u);
}

}  // namespace
}  // namespace troupe
