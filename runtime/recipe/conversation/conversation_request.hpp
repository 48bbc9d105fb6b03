// A request of any protocol after conversion: the conversation, and what the engine, the stream
// parser and the answer's generator must know beside it.
//
// Flow: body ─ request/ parsers ─▶ ConversationRequest ─ .conversation ─▶ encoding/ ─▶ token ids
//                                          ├─ .sampling ─▶ engine
//                                          ├─ .parsing ──▶ stream/ parser
//                                          └─ .answer ───▶ stream/ event generator
//
// Compat::kDeepseek reproduces the reference implementation bit for bit, quirks included; kDefault
// does what the public APIs say. docs/recipe-differences.md lists every difference.
//
// Threads: plain values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/strong.hpp"
#include "runtime/recipe/conversation/conversation.hpp"

namespace troupe::recipe {

/// kCompletions: raw prompts, no conversation (completions_shape.hpp).
enum class Protocol : unsigned char { kChat, kResponses, kMessages, kCompletions };

enum class Compat : unsigned char { kDefault, kDeepseek };

struct PromptPack;

/// What a deployment decides about conversion (SPEC section 1, ConversionOptions).
struct ConversionOptions {
  Compat compat = Compat::kDefault;
  bool default_thinking = true;
  bool reject_missing_reasoning =
      false;  ///< reasoning_content_behavior: Reject instead of FillEmpty
  bool responses_web_search_rejected = false;
  bool messages_web_search_rejected = true;
  std::uint32_t thinking_tokens_max = 393216;
  std::uint32_t plain_tokens_max = 393216;
  /// Explicit max tokens above the room that the prompt leaves are refused; else lowered to it.
  /// Compat::kDeepseek always refuses.
  bool reject_tokens_over_room = false;
  /// Served names besides the built-in ones, and what they are.
  std::map<std::string, ModelVersion, std::less<>> models;
  /// What a request without a model gets, a name of `models`; empty: it must name one.
  /// Compat::kDeepseek always wants a name.
  std::string default_model;
  /// Texts that conversion itself places (apply_patch, documents, mid-conversation system
  /// messages). A request that needs one is refused if there is no pack.
  std::shared_ptr<const PromptPack> pack_v4;
  std::shared_ptr<const PromptPack> pack_v41;
};

/// A grammar that the output should follow; this library reports it, the engine enforces it.
struct OutputConstraint {
  std::string kind;    ///< "tool_call", "tool_call_required", "json", "regex"
  std::string schema;  ///< compact JSON, a pattern, or empty
};

/// Absent values: the model's own defaults. Compat::kDeepseek leaves temperature and top_p never
/// absent, and knows nothing of what stands below `constraint`.
struct Sampling {
  std::optional<std::uint32_t> tokens_max;  ///< as asked; see resolve_max_tokens()
  bool clamp_tokens = false;                ///< tokens_max above the room: lowered, not refused
  std::optional<float> temperature;
  std::optional<float> top_p;
  bool logprobs = false;
  std::optional<std::uint8_t> top_logprobs;
  std::optional<std::uint64_t> seed;
  std::optional<OutputConstraint> constraint;

  std::optional<std::uint32_t> top_k;  ///< 0: off
  std::optional<float> min_p;
  std::vector<std::pair<TokenId, float>> logit_bias;  ///< ids not checked against a vocabulary
  bool ignore_eos = false;       ///< go on to tokens_max (vLLM's extension, for benchmarks)
  std::uint32_t tokens_min = 0;  ///< the model cannot end before (vLLM's extension)
};

/// Where the model's answer begins (SPEC 5.2). A continuation keeps leading line ends.
enum class InitialStage : unsigned char {
  kContent,
  kContentContinuation,
  kReasoning,
  kReasoningContinuation,
};

struct ParsingOptions {
  Compat compat = Compat::kDefault;
  bool tools = false;            ///< tool markup is parsed; else it is text
  bool starts_in_tools = false;  ///< the prompt ends inside the tool block
  bool one_call = false;         ///< kDefault: the answer ends behind its first tool call
  bool json = false;             ///< JSON mode
  InitialStage initial = InitialStage::kReasoning;
  std::vector<std::string> stops;  ///< none is empty
};

/// What the answer repeats or maps back.
struct AnswerOptions {
  Protocol protocol = Protocol::kChat;
  bool thinking = true;
  bool include_usage = false;             ///< Chat: stream_options.include_usage
  std::vector<std::string> custom_tools;  ///< Responses: answered as custom_tool_call
  /// Responses: flat tool name → (namespace, local name).
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> namespaces;
  /// Responses: what the response object repeats, as JSON object text with any of the members
  /// instructions, max_output_tokens, reasoning, temperature, text, tool_choice, tools,
  /// top_logprobs, top_p, user, in any order. A missing one, or an empty text, means the value of
  /// a request that does not say (SPEC 5.4, "Echo").
  std::string echo;
  /// Chat and Completions: which choice of several this is. Usage and what surrounds the choices
  /// are then written by Choices, and a body is the choice alone.
  std::optional<std::uint32_t> choice;
  bool stored = false;            ///< Responses: what the response says about itself
  std::string previous_response;  ///< Responses: the id of the response before it; may be empty
};

/// A prompt that is no conversation.
struct RawPrompt {
  std::string text;
  std::optional<std::vector<TokenId>> ids;  ///< given: instead of the text
};

struct ConversationRequest {
  std::string model;  ///< as the client named it
  ModelVersion version = ModelVersion::kDeepseekV4;
  bool stream = false;
  std::string user;                ///< who asks, if the client says so; Compat::kDeepseek: empty
  std::optional<bool> store;       ///< Responses, kDefault: whether the answer is to be kept
  std::vector<RawPrompt> prompts;  ///< Completions; all others: the conversation
  std::uint32_t choices = 1;       ///< answers to each prompt
  Conversation conversation;
  Sampling sampling;
  ParsingOptions parsing;
  AnswerOptions answer;
};

/// Why a body was refused; error_body.hpp writes it in the protocol's form.
struct RequestError {
  enum class Stage : unsigned char {
    kParse,    ///< not JSON, or not the shape of the protocol
    kConvert,  ///< well-formed, but breaks a rule
  };
  Stage stage = Stage::kConvert;
  std::string message;
  std::string param;  ///< the field that is wrong, "messages[0].content"; empty in compat mode
  std::string code = "invalid_request_error";
  int status = 400;
};

}  // namespace troupe::recipe
