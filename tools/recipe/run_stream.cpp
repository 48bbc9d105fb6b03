// Stream vectors: an engine's chunks through the stream processor, once for events and once for the
// body (recipe SPEC section 8).
#include <optional>
#include <utility>
#include <variant>

#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/stream/stream_processor.hpp"
#include "tools/recipe/run_vector.hpp"

namespace troupe {
namespace {

using Index = JsonTape::Index;
using recipe::Chunk;

struct SentEvent {
  std::string name;  // "" in Chat Completions
  std::string json;
};
using SentEvents = std::vector<SentEvent>;

/// Collects the events of one step.
class StepEvents final : public recipe::EventSink {
 public:
  void event(std::string_view name, std::string_view json) override {
    events_.push_back({std::string(name), std::string(json)});
  }
  SentEvents take() { return std::exchange(events_, {}); }

 private:
  SentEvents events_;
};

/// Reads the chunks of a vector: {"ready": {...}}, {"tokens": [ids], "logprobs": ...},
/// {"text": ..., "token_count": n} or {"finish": reason}.
class ChunkReader {
 public:
  explicit ChunkReader(const JsonTape& tape) : tape_(tape) {}

  std::optional<Chunk> read(Index chunk) const {
    if (const Index ready = tape_.find(chunk, "ready"); ready != JsonTape::kNone) {
      return recipe::ReadyChunk{count(tape_.find(ready, "prompt_tokens")),
                                count(tape_.find(ready, "prompt_cache_hit_tokens")),
                                std::string(text(tape_.find(ready, "system_fingerprint")))};
    }
    if (const Index ids = tape_.find(chunk, "tokens"); ids != JsonTape::kNone) {
      return read_tokens(ids, tape_.find(chunk, "logprobs"));
    }
    if (const Index piece = tape_.find(chunk, "text"); piece != JsonTape::kNone) {
      return recipe::TextChunk{std::string(text(piece)), count(tape_.find(chunk, "token_count"))};
    }
    return read_finish(text(tape_.find(chunk, "finish")));
  }

 private:
  bool is(Index index, JsonKind kind) const {
    return index != JsonTape::kNone && tape_.kind(index) == kind;
  }
  std::string_view text(Index index) const {
    return is(index, JsonKind::kString) ? tape_.text(index) : std::string_view();
  }
  std::uint64_t count(Index index) const {
    return is(index, JsonKind::kNumber) ? json_unsigned(tape_.text(index)).value_or(0) : 0;
  }
  double real(Index index) const {
    return is(index, JsonKind::kNumber) ? json_number_value(tape_.text(index)) : 0;
  }

  std::vector<Index> elements(Index list) const {
    std::vector<Index> found;
    if (is(list, JsonKind::kArray)) {
      tape_.each(list, [&](std::string_view, Index element) { found.push_back(element); });
    }
    return found;
  }

  /// `logprobs`: for each id [its logprob, [[candidate, logprob], ...]].
  Chunk read_tokens(Index ids, Index logprobs) const {
    recipe::TokensChunk chunk;
    for (const Index id : elements(ids)) chunk.ids.push_back(token(id));
    for (const Index entry : elements(logprobs)) {
      const auto pair = elements(entry);
      if (pair.size() != 2) continue;
      auto& logprob = chunk.logprobs.emplace_back();
      logprob.logprob = real(pair[0]);
      for (const Index candidate : elements(pair[1])) {
        const auto each = elements(candidate);
        if (each.size() == 2) logprob.top.push_back({token(each[0]), real(each[1])});
      }
    }
    return chunk;
  }
  TokenId token(Index index) const { return TokenId(static_cast<std::int32_t>(count(index))); }

  static std::optional<Chunk> read_finish(std::string_view reason) {
    using recipe::EngineFinish;
    if (reason == "stop") return recipe::FinishChunk{EngineFinish::kStop};
    if (reason == "length") return recipe::FinishChunk{EngineFinish::kLength};
    if (reason == "content_filter") return recipe::FinishChunk{EngineFinish::kContentFilter};
    return std::nullopt;
  }

  const JsonTape& tape_;
};

Result<std::vector<Chunk>> chunks_of(const Vector& vector) {
  std::vector<Chunk> chunks;
  const Index list = vector.input("chunks");
  bool good = list != JsonTape::kNone && vector.tape().kind(list) == JsonKind::kArray;
  const ChunkReader reader(vector.tape());
  if (good) {
    vector.tape().each(list, [&](std::string_view, Index index) {
      auto chunk = reader.read(index);
      good = good && chunk.has_value();
      if (chunk) chunks.push_back(std::move(*chunk));
    });
  }
  if (good) return chunks;
  return Error{Code::kInvalid, std::string(vector.id()) +
                                   ": \"chunks\" must be a list of ready, tokens, text or "
                                   "finish"};
}

recipe::Identity identity_of(const Vector& vector) {
  recipe::Identity identity;
  identity.id = vector.text_of(vector.input("id"));
  identity.model = vector.text_of(vector.input("response_model"));
  const Index generator = vector.input("generator");
  if (generator != JsonTape::kNone) {
    identity.signature = vector.text_of(vector.tape().find(generator, "signature"));
  }
  return identity;
}

/// Null if the vector says that there is none.
Result<RecipeLab::TokenizerPtr> tokenizer_of(const Vector& vector, recipe::ModelVersion version,
                                             RecipeLab& lab) {
  const Index name = vector.input("tokenizer");
  if (name == JsonTape::kNone) return lab.tokenizer(version);
  if (vector.tape().kind(name) == JsonKind::kNull) return RecipeLab::TokenizerPtr();
  return lab.tokenizer(vector.text_of(name) == "v4" ? recipe::ModelVersion::kDeepseekV4
                                                    : recipe::ModelVersion::kDeepseekV41);
}

/// The events of each step, and why they ended early.
struct Steps {
  std::vector<SentEvents> events;
  std::optional<Error> error;
  bool finished = false;
  std::string body;  ///< with Delivery::kBody
};

Steps push_all(recipe::StreamProcessor& processor, const std::vector<Chunk>& chunks) {
  Steps steps;
  StepEvents sink;
  for (const Chunk& chunk : chunks) {
    if (processor.finished()) break;
    if (const Status pushed = processor.push(chunk, sink); !pushed.ok()) {
      steps.error = pushed.error();
      return steps;
    }
    steps.events.push_back(sink.take());
  }
  if (steps.events.size() == chunks.size()) {
    if (const Status ended = processor.finish(sink); !ended.ok()) steps.error = ended.error();
    if (!steps.error) steps.events.push_back(sink.take());
  }
  steps.finished = processor.finished();
  return steps;
}

Result<Steps> run_chunks(const Vector& vector, const recipe::ConversationRequest& request,
                         recipe::Delivery delivery, RecipeLab& lab) {
  TROUPE_TRY_ASSIGN(const auto chunks, chunks_of(vector));
  TROUPE_TRY_ASSIGN(const auto tokenizer, tokenizer_of(vector, request.version, lab));
  recipe::StreamProcessor processor(request.parsing, request.answer, identity_of(vector), tokenizer,
                                    delivery);
  Steps steps = push_all(processor, chunks);
  if (delivery == recipe::Delivery::kBody) steps.body = processor.body();
  return steps;
}

/// Steps as a JSON list of lists.
std::string steps_json(const std::vector<SentEvents>& steps) {
  std::string out = "[";
  for (const SentEvents& step : steps) {
    out += out.size() > 1 ? ", [" : "[";
    for (const SentEvent& event : step) {
      if (!out.ends_with('[')) out += ", ";
      out += "{";
      if (!event.name.empty()) {
        out += "\"event\": ";
        append_json_string(out, event.name);
        out += ", ";
      }
      out.append("\"data\": ").append(event.json).append("}");
    }
    out += "]";
  }
  return out + "]";
}

std::string server_sent(const SentEvent& event) {
  const std::string name = event.name.empty() ? "" : "event: " + event.name + "\n";
  return name + "data: " + event.json + "\n\n";
}

std::string quoted_or_null(std::string_view text) {
  if (text.empty()) return "null";
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

Result<VectorResult> run_stream(const Vector& vector, RecipeLab& lab) {
  TROUPE_TRY_ASSIGN(const auto converted, convert_vector(vector, lab));
  if (const auto* refused = std::get_if<recipe::RequestError>(&converted)) {
    return refusal_of(*refused, vector.protocol(), lab);
  }
  const auto& request = std::get<recipe::ConversationRequest>(converted);
  TROUPE_TRY_ASSIGN(const Steps steps, run_chunks(vector, request, recipe::Delivery::kEvents, lab));
  TROUPE_TRY_ASSIGN(const Steps whole, run_chunks(vector, request, recipe::Delivery::kBody, lab));
  return VectorResult{
      {"steps", steps_json(steps.events)},
      {"finished", steps.finished ? "true" : "false"},
      {"error", quoted_or_null(steps.error ? steps.error->message : "")},
      {"done_data", quoted_or_null(recipe::done_data(vector.protocol()))},
      {"response", whole.body},
  };
}

Result<std::string> events_text(const Vector& vector, RecipeLab& lab) {
  TROUPE_TRY_ASSIGN(const auto converted, convert_vector(vector, lab));
  if (const auto* refused = std::get_if<recipe::RequestError>(&converted)) {
    return Error{Code::kInvalid, refused->message};
  }
  const auto& request = std::get<recipe::ConversationRequest>(converted);
  TROUPE_TRY_ASSIGN(const Steps steps, run_chunks(vector, request, recipe::Delivery::kEvents, lab));
  std::string out;
  for (const SentEvents& step : steps.events) {
    for (const SentEvent& event : step) out += server_sent(event);
  }
  const std::string_view done = recipe::done_data(vector.protocol());
  if (steps.finished && !done.empty()) out += server_sent({"", std::string(done)});
  if (steps.error) out += ": error: " + steps.error->message + "\n\n";
  return out;
}

}  // namespace troupe
