// bench_recipe_encode TOKENIZER.json PROMPT_PACK.json BODY.json [--repeats N]
//
// From the bytes of a Chat request for DeepSeek V4 to token ids, in CPU time, so that other work on
// the machine does not count. Prints one JSON object:
//   request_cpu_s    body to ids, one thread: parsed, converted, rendered, encoded
//   request_p50_s    the middle of the same, of all repeats
//   encode_cpu_s     the last step of it alone
//   scaling_2        CPU time of that step on one thread over that of the longer of two threads
//   prompt_bytes, tokens, digest   what was encoded; the digest (FNV-1a of the ids as 32-bit
//                    little-endian numbers) tells whether two programs made the same ids
// Times are the best of the repeats (ten times as many for encode_cpu_s and scaling_2), as the
// least disturbed, unless said otherwise.
//
// The program keeps to one CPU, both threads too. CPUs are often two threads of one core, and a
// busy neighbour, be it the other of the two threads, then doubles a thread's CPU time: scaling_2
// says how evenly and with how little to spare a prompt is split, not how many cores the machine
// has. For the same reason jobs are dealt out in turn, not to who is free first.
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/recipe/encoding/encoding.hpp"
#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"
#include "runtime/recipe/tokenizer/prompt_tokens.hpp"
#include "tests/bench/figure.hpp"

namespace troupe::recipe {
namespace {

using bench::cpu_seconds;
using Ids = std::vector<TokenId>;

/// Two runs of some milliseconds are compared for scaling_2: it takes many to find undisturbed
/// ones.
constexpr int kSplitRepeats = 10;

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "bench_recipe_encode: %s\n", message.c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) fail(to_string(result.error()));
  return std::move(*result);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Keeps this thread, and those it starts, to the last CPU that it may use.
void keep_to_one_cpu() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) fail("cannot ask for CPUs");
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) last = cpu;
  }
  CPU_ZERO(&allowed);
  CPU_SET(last, &allowed);
  if (sched_setaffinity(0, sizeof allowed, &allowed) != 0) fail("cannot choose a CPU");
}

struct Recipe {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const Encoding> encoding;
  ConversionOptions options{.compat = Compat::kDeepseek};

  RenderedPrompt render(const std::string& body) const {
    const auto converted = convert_request(Protocol::kChat, body, options);
    const auto* request = std::get_if<ConversationRequest>(&converted);
    if (request == nullptr) fail(std::get<RequestError>(converted).message);
    return must(encoding->render(request->conversation));
  }
  Ids encode(const RenderedPrompt& prompt) const { return must(encode_prompt(*tokenizer, prompt)); }
};

/// Deals jobs out to this thread and another one in turn; adds up the CPU time of the other.
Executor two_threads(double& helper_seconds) {
  const auto run = [&helper_seconds](std::size_t count,
                                     const std::function<void(std::size_t)>& job) {
    std::thread helper([&] {
      const double start = cpu_seconds();
      for (std::size_t i = 1; i < count; i += 2) job(i);
      helper_seconds += cpu_seconds() - start;
    });
    for (std::size_t i = 0; i < count; i += 2) job(i);
    helper.join();
  };
  return {run, 2};
}

/// CPU time of the longer of two threads that encode a prompt.
double on_two_threads(const Recipe& recipe, const RenderedPrompt& prompt, const Ids& expected) {
  double helper_seconds = 0;
  const double start = cpu_seconds();
  const Ids ids = must(encode_prompt(*recipe.tokenizer, prompt, two_threads(helper_seconds)));
  const double own = cpu_seconds() - start;
  if (ids != expected) fail("two threads gave other ids than one");
  return std::max(own, helper_seconds);
}

std::uint64_t digest(const Ids& ids) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const TokenId id : ids) {
    for (int shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ ((static_cast<std::uint32_t>(id.value) >> shift) & 0xFF)) * 0x100000001B3;
    }
  }
  return hash;
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const Recipe& recipe, const std::string& body, int repeats) {
  const RenderedPrompt prompt = recipe.render(body);
  const Ids expected = recipe.encode(prompt);
  std::vector<double> request;
  std::vector<double> encode;
  std::vector<double> longer;
  for (int i = 0; i < repeats; ++i) {
    const double start = cpu_seconds();
    if (recipe.encode(recipe.render(body)).size() != expected.size()) fail("the ids changed");
    request.push_back(cpu_seconds() - start);
  }
  for (int i = 0; i < repeats * kSplitRepeats; ++i) {
    const double start = cpu_seconds();
    if (recipe.encode(prompt).size() != expected.size()) fail("the ids changed");
    encode.push_back(cpu_seconds() - start);
    longer.push_back(on_two_threads(recipe, prompt, expected));
  }
  const auto best = [](const std::vector<double>& values) {
    return *std::min_element(values.begin(), values.end());
  };
  std::printf(
      "{\"request_cpu_s\": %.6g, \"request_p50_s\": %.6g, \"encode_cpu_s\": %.6g, "
      "\"scaling_2\": %.4g, \"prompt_bytes\": %zu, \"tokens\": %zu, \"digest\": \"%016llx\"}\n",
      best(request), middle(request), best(encode), best(encode) / best(longer), prompt.text.size(),
      expected.size(), static_cast<unsigned long long>(digest(expected)));
}

int run(int argc, char** argv) {
  std::vector<std::string> files;
  int repeats = 5;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
      repeats = std::max(1, std::atoi(argv[++i]));
    } else {
      files.emplace_back(argv[i]);
    }
  }
  if (files.size() != 3) {
    fail("usage: bench_recipe_encode TOKENIZER.json PROMPT_PACK.json BODY.json [--repeats N]");
  }
  keep_to_one_cpu();
  auto pack = std::make_shared<const PromptPack>(
      must(load_prompt_pack(files[1], ModelVersion::kDeepseekV4)));
  const Recipe recipe{must(load_tokenizer_file(files[0])),
                      must(make_encoding(ModelVersion::kDeepseekV4, std::move(pack)))};
  measure(recipe, read_file(files[2]), repeats);
  return 0;
}

}  // namespace
}  // namespace troupe::recipe

int main(int argc, char** argv) {
  return troupe::recipe::run(argc, argv);
}
