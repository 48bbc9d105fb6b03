#include "tools/node/engines.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "runtime/base/engine_limits.hpp"
#include "runtime/device/cpu_device.hpp"
#include "runtime/device/modelled_device.hpp"
#include "runtime/device/script_model.hpp"
#include "runtime/device/simulated_model.hpp"
#include "runtime/model/fingerprint.hpp"
#include "runtime/model/gguf_vocabulary.hpp"
#include "runtime/model/llama_engine.hpp"
#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"
#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"
#include "tools/model/catalogue.hpp"
#include "tools/model/store.hpp"
#include "tools/node/simulated_cost.hpp"

namespace troupe {

namespace {

constexpr std::uint32_t kSlots = 4;            ///< two steps in flight, and one to spare
constexpr std::size_t kSlotBytes = 64u << 10;  ///< ids and positions of a step, with room
/// Devices without KV memory of their own count blocks all the same.
constexpr std::uint32_t kModelledBlocks = 8192;
constexpr std::uint32_t kModelledContext = 131'072;

std::uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::uint64_t kib = 0;
  while (file >> key >> kib >> unit) {
    if (key == "MemAvailable:") return kib << 10;
  }
  return 0;
}

std::string mib(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

RankLimits limits_of(const config::NodeConfig& config) {
  RankLimits limits;
  limits.max_num_seqs = static_cast<std::uint32_t>(config.engine.max_num_seqs);
  limits.max_num_batched_tokens = static_cast<std::uint32_t>(config.engine.max_num_batched_tokens);
  limits.queue_max = static_cast<std::uint32_t>(config.gateway.max_queue);
  limits.async_steps = config.engine.async;
  limits.watchdog = config.engine.watchdog;
  return limits;
}

Status add_rank(Engines& engines, const config::NodeConfig& config, std::vector<std::string> models,
                std::unique_ptr<Device> device) {
  RankSpec spec;
  TROUPE_TRY_ASSIGN(const StreamId stream, device->open_stream());
  spec.args.stream = {static_cast<std::uint32_t>(engines.devices.size()), stream};
  spec.args.device = device->info();
  spec.args.limits = limits_of(config);
  spec.models = std::move(models);
  engines.ranks.push_back(std::move(spec));
  engines.devices.push_back(std::move(device));
  return ok_status();
}

DeviceInfo modelled_info(const config::NodeConfig& config, const char* kind) {
  DeviceInfo info;
  info.kind = kind;
  info.slot_count = kSlots;
  info.slot_bytes = kSlotBytes;
  info.block_count = config.engine.kv_blocks == 0
                         ? kModelledBlocks
                         : static_cast<std::uint32_t>(config.engine.kv_blocks);
  info.context_max = config.model.max_model_len == 0
                         ? kModelledContext
                         : static_cast<std::uint32_t>(config.model.max_model_len);
  return info;
}

/// What scripts pretend to be: their vocabulary, and the form of their prompts and answers.
Result<ServedModel> scripted_model(config::ScriptedRecipe kind) {
  ServedModel served;
  served.name = "script/*";
  if (kind == config::ScriptedRecipe::kBytes) {
    served.tokenizer = ByteTokenizer::build();
    TROUPE_TRY_ASSIGN(served.encoding, recipe::make_encoding("chatml", nullptr));
    return served;
  }
  const bool v4 = kind == config::ScriptedRecipe::kDeepseekV4;
  served.takes_images = true;  // a script plays on whatever it is shown
  served.version = v4 ? recipe::ModelVersion::kDeepseekV4 : recipe::ModelVersion::kDeepseekV41;
  const std::string name = v4 ? "deepseek-v4" : "deepseek-v4.1";
  TROUPE_TRY_ASSIGN(const std::string tokenizer, model_path(name));
  TROUPE_TRY_ASSIGN(served.tokenizer, load_tokenizer_file(tokenizer));
  const auto pack = std::filesystem::path(tokenizer).replace_filename("prompt_pack.json");
  TROUPE_TRY_ASSIGN(auto loaded, recipe::load_prompt_pack(pack.string(), served.version));
  served.pack = std::make_shared<const recipe::PromptPack>(std::move(loaded));
  TROUPE_TRY_ASSIGN(served.encoding, recipe::make_encoding(name, served.pack));
  return served;
}

/// Which scripts GET /v1/models lists; all others are served too.
constexpr std::size_t kScriptsListed = 1000;

/// "script/*" and the names of the scripts that are there now, in order.
std::vector<std::string> script_names(const std::string& directory) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.path().extension() != ".json") continue;
    names.insert("script/" + entry.path().stem().string());
    if (names.size() > kScriptsListed) names.erase(std::prev(names.end()));
  }
  std::vector<std::string> all{"script/*"};
  all.insert(all.end(), names.begin(), names.end());
  return all;
}

Result<Engines> scripted_engines(const config::NodeConfig& config, bool with_ranks) {
  const std::string& directory = config.scripted.directory;
  if (!std::filesystem::is_directory(directory)) {
    return Error{Code::kNotFound, "scripted.directory: there is no directory " + directory +
                                      "; create it and put scripts NAME.json there"};
  }
  Engines engines;
  DeviceInfo info = modelled_info(config, "scripted");
  info.tokens_per_step_max = ScriptModel::kTokensPerStep;
  TROUPE_TRY_ASSIGN(auto served, scripted_model(config.scripted.recipe));
  served.context = info.context_max;
  const auto tokenizer = served.tokenizer;
  engines.models.push_back(std::move(served));
  engines.about = "scripts of " + directory + " as script/NAME";
  for (std::int64_t i = 0; with_ranks && i < config.engine.ranks; ++i) {
    auto encode = [tokenizer](std::string_view text, bool control) {
      return tokenizer->encode(text, control);
    };
    auto model = std::make_unique<ScriptModel>(directory, std::move(encode));
    TROUPE_TRY(add_rank(engines, config, script_names(directory),
                        std::make_unique<ModelledDevice>(info, std::move(model))));
  }
  return engines;
}

Result<Engines> simulated_engines(const config::NodeConfig& config, bool with_ranks) {
  Engines engines;
  const std::string name =
      config.model.served_name.empty() ? "simulated" : config.model.served_name;
  const DeviceInfo info = modelled_info(config, "simulated");
  TROUPE_TRY_ASSIGN(auto encoding, recipe::make_encoding("chatml", nullptr));
  engines.models.push_back(
      {name, ByteTokenizer::build(), encoding, recipe::ModelVersion::kChatml, info.context_max});
  engines.about = name + " on simulated GPUs (no model: the text is noise)";
  for (std::int64_t i = 0; with_ranks && i < config.engine.ranks; ++i) {
    SimulatedModelOptions options;
    options.seed = static_cast<std::uint64_t>(i) + 1;
    auto cost = std::make_shared<CostModel>(cost_model_of(config.simulated, "the configuration"));
    options.step_cost = [cost](const StepPlan& plan) { return cost->step(plan); };
    TROUPE_TRY(add_rank(engines, config, {name},
                        std::make_unique<ModelledDevice>(
                            info, std::make_unique<SimulatedModel>(std::move(options)))));
  }
  return engines;
}

struct LoadedModel {
  std::shared_ptr<const GgufFile> file;
  ModelConfig config;
  ServedModel served;
};

Status check_has_weights(const std::string& wanted) {
  const auto known = find_known_model(wanted);
  if (!known.ok() || known->has_weights()) return ok_status();
  return Error{Code::kInvalid, "model.path: " + wanted +
                                   " is a tokenizer without weights, for `troupe recipe "
                                   "--model " +
                                   wanted +
                                   "` and for scripts (--device scripted --script-recipe " +
                                   wanted + "); choose a model with --model (troupe model list)"};
}

/// What clients may use of the model's context.
Result<std::uint32_t> context_of(const config::NodeConfig& config, const LoadedModel& loaded) {
  const std::int64_t asked = config.model.max_model_len;
  if (asked == 0) return loaded.config.context;
  if (asked > loaded.config.context) {
    return Error{Code::kInvalid, "model.max_model_len (--max-model-len): expected at most " +
                                     std::to_string(loaded.config.context) + ", the context of " +
                                     loaded.file->path() + ", found " + std::to_string(asked) +
                                     "; 0 takes the model's own"};
  }
  return static_cast<std::uint32_t>(asked);
}

Result<LoadedModel> load_model_file(const config::NodeConfig& config) {
  const std::string wanted = config.model.path.empty() ? "smollm2" : config.model.path;
  TROUPE_TRY(check_has_weights(wanted));
  TROUPE_TRY_ASSIGN(const std::string path, model_path(wanted));
  LoadedModel loaded;
  auto file = GgufFile::open(path);
  if (!file.ok()) {
    return Error{file.error().code,
                 file.error().message + "; choose another with --model (troupe model list)"};
  }
  loaded.file = std::move(*file);
  TROUPE_TRY_ASSIGN(loaded.config, read_llama_config(*loaded.file));
  TROUPE_TRY_ASSIGN(auto vocabulary, vocabulary_of(*loaded.file));
  TROUPE_TRY_ASSIGN(loaded.served.tokenizer, BpeTokenizer::build(std::move(vocabulary)));
  if (loaded.served.tokenizer->size() > loaded.config.vocabulary) {
    return Error{Code::kInvalid,
                 path + ": its tokenizer has " + std::to_string(loaded.served.tokenizer->size()) +
                     " tokens, but its embedding only " + std::to_string(loaded.config.vocabulary) +
                     "; the file is damaged"};
  }
  const auto chat_template = loaded.file->string_value("tokenizer.chat_template");
  TROUPE_TRY_ASSIGN(const auto encoding,
                    recipe::recognize_encoding(chat_template.ok() ? *chat_template : ""));
  TROUPE_TRY_ASSIGN(loaded.served.encoding, recipe::make_encoding(encoding, nullptr));
  loaded.served.name = config.model.served_name;
  if (loaded.served.name.empty()) {
    loaded.served.name = path == wanted ? std::filesystem::path(path).stem().string() : wanted;
  }
  TROUPE_TRY_ASSIGN(loaded.served.context, context_of(config, loaded));
  return loaded;
}

Status check_memory(const LoadedModel& loaded, const config::NodeConfig& config,
                    std::uint64_t kv_bytes) {
  std::error_code ignored;
  const std::uint64_t weights = std::filesystem::file_size(loaded.file->path(), ignored);
  const std::uint64_t ranks = static_cast<std::uint64_t>(config.engine.ranks);
  const std::uint64_t needed = ranks * (weights + kv_bytes);
  const std::uint64_t available = available_memory();
  if (available == 0 || needed <= available) return ok_status();
  return Error{Code::kTooLarge,
               "the node would need " + mib(needed) + " of memory (" + std::to_string(ranks) +
                   " x (" + mib(weights) + " of weights + " + mib(kv_bytes) + " of KV)), but " +
                   mib(available) +
                   " are available; lower engine.kv_memory (--kv-memory) or engine.ranks"};
}

Result<Engines> cpu_engines(const config::NodeConfig& config, bool with_ranks) {
  TROUPE_TRY_ASSIGN(auto loaded, load_model_file(config));
  const std::uint64_t block_bytes = KvCache::block_size(loaded.config).value;
  std::uint64_t blocks = static_cast<std::uint64_t>(config.engine.kv_blocks);
  if (blocks == 0) blocks = config.engine.kv_memory.value / block_bytes;
  if (blocks < 2) {
    return Error{Code::kInvalid, "engine.kv_memory holds fewer than 2 KV blocks of " +
                                     mib(block_bytes) + "; raise it"};
  }
  Engines engines;
  engines.models.push_back(loaded.served);
  engines.fingerprint = fingerprint_of(*loaded.file);
  engines.kv_layout = kv_layout_of(loaded.config);
  engines.about = loaded.served.name;
  if (!with_ranks) return engines;
  engines.about += " (" + loaded.file->path() + ") on the CPU";
  TROUPE_TRY(check_memory(loaded, config, blocks * block_bytes));
  if (!config.engine.cost_file.empty()) engines.steps = std::make_shared<StepRecord>();
  DeviceInfo info;
  info.kind = "cpu";
  info.slot_count = kSlots;
  info.slot_bytes = kSlotBytes;
  info.block_count = static_cast<std::uint32_t>(blocks);
  info.context_max = loaded.served.context;
  info.vocabulary = static_cast<std::uint32_t>(loaded.served.tokenizer->size());
  LlamaOptions options;
  options.threads = config.engine.threads == 0
                        ? std::clamp(std::thread::hardware_concurrency(), 1u, kCpuThreadsMax)
                        : static_cast<std::uint32_t>(config.engine.threads);
  options.max_batch_tokens = static_cast<std::uint32_t>(
      std::max(config.engine.max_num_batched_tokens, config.engine.max_num_seqs));
  for (std::int64_t i = 0; i < config.engine.ranks; ++i) {
    TROUPE_TRY_ASSIGN(auto model, LlamaModel::load(loaded.file, options));
    std::unique_ptr<StepEngine> engine = std::make_unique<LlamaEngine>(
        std::move(model), info.block_count, loaded.served.tokenizer->size());
    if (engines.steps) engine = std::make_unique<MeasuredEngine>(std::move(engine), engines.steps);
    TROUPE_TRY(add_rank(engines, config, {loaded.served.name},
                        std::make_unique<CpuDevice>(info, std::move(engine))));
  }
  return engines;
}

}  // namespace

Result<Engines> build_engines(const config::NodeConfig& config, bool with_ranks) {
  switch (config.engine.device) {
    case config::DeviceKind::kCpu:
      return cpu_engines(config, with_ranks);
    case config::DeviceKind::kScripted:
      return scripted_engines(config, with_ranks);
    case config::DeviceKind::kSimulated:
      return simulated_engines(config, with_ranks);
  }
  return Error{Code::kInternal, "an unknown kind of device"};
}

}  // namespace troupe
