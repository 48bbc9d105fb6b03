// The state machine of an answer: pieces of text in, deltas out (recipe SPEC 5.2).
//
//   reasoning ──</think>──▶ content ──<DSML tool_calls>──▶ tools ──invoke──▶ name ──▶ arguments
//        └────────────<DSML tool_calls>───────────────────▶  ▲                          │ parameter
//   JSON mode: before ──▶ inside ──▶ after                   └────</DSML invoke>────────┤
//                                                            value ◀── attributes ◀── name
//
// Invariants:
//   1. What the deltas say is the same for every way to cut the text into pieces (kDefault; in
//      kDeepseek JSON mode adds a space a piece, as the reference does).
//   2. Text that may begin a delimiter waits, all other text does not. kDeepseek holds the whole
//      piece in which it begins, and what a delimiter does if nothing but such text follows it.
//   3. No byte is looked at twice. No allocation a piece once the buffers have grown.
//   4. kDefault: the arguments of a call that got kCallDone are valid JSON, and every prefix of
//      the arguments of any call is a prefix of valid JSON. A parameter that is not a string waits
//      until it is complete; one that is no JSON becomes a string.
//   5. kDefault: a call is announced only inside a block of a request with tools and with a name;
//      the markup of any other is left out. Calls of a second block count.
//
// Stop strings are looked for in content and inside of JSON only; after one nothing is read.
//
// Threads: one owner. Ownership: the options outlive nothing; the sink must outlive the parser.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/stream/delimiter.hpp"
#include "runtime/recipe/stream/delta.hpp"
#include "runtime/recipe/stream/json_extent.hpp"
#include "runtime/recipe/stream/stop_strings.hpp"

namespace troupe::recipe {

class AnswerParser final : public PieceSink {
 public:
  /// `markup`: whether the model has control tokens at all; without, only stop strings and JSON
  /// mode are looked for, and line ends at the beginning stay.
  AnswerParser(const ParsingOptions& options, bool markup, DeltaSink& sink);

  AnswerParser(const AnswerParser&) = delete;
  AnswerParser& operator=(const AnswerParser&) = delete;

  /// Nothing after a stop string.
  void piece(const Piece& piece) override;
  /// The end of the text. `complete`: the model ended it, rather than a limit.
  void finish(bool complete);

  /// The stop string that was found, or null.
  const std::string* stop() const { return stop_; }
  bool in_reasoning() const { return state_ == ParserState::kReasoning; }
  /// A call was announced; in kDefault: and is complete.
  bool has_call() const { return has_call_; }
  /// The last call was announced and is not complete.
  bool call_open() const { return call_open_; }

 private:
  /// Of text before JSON or a call: more is an answer without them.
  static constexpr std::size_t kLeftOutBytesMax = 64 * 1024;
  /// A piece that waits: up to where in held_, and its share of held_logs_.
  struct Held {
    std::size_t end = 0;
    std::size_t logs_end = 0;
  };
  /// Why calls are not announced, and so until when.
  enum class Mute : unsigned char { kNone, kCall, kOrphan, kBlock };

  bool strict() const { return options_.compat == Compat::kDefault; }
  void enter(ParserState state);
  void scan(const Piece& piece);
  std::size_t skip_line_ends(const Piece& piece, std::size_t at);
  void step(const Piece& piece, std::size_t at);
  std::size_t partial() const;
  void at_delimiter(const Piece& piece, const Delimiter& delimiter, std::size_t end);

  // Text that is set free.
  void take(const Piece& piece, std::size_t size);
  void give_out_held(std::size_t size, bool kept);
  void drop_held();
  void end_piece(const Piece& piece);
  void end_piece_strict(const Piece& piece);
  void hold(const Piece& piece, std::string_view rest);
  void text(std::string_view text, std::span<const LoggedToken> logs);
  void keep_unless_asked_for(std::string_view text);
  void show_left_out();
  void show(DeltaKind kind, std::string_view text, std::span<const LoggedToken> logs);

  // What delimiters do (answer_markup.cpp). `first`: the delimiter's first byte.
  void apply(Markup markup, char first);
  void apply_strict(Markup markup, char first);
  void enter_content();
  void enter_json(char bracket);
  void announce();
  void begin_markup(bool orphan);
  void begin_call();
  void begin_value(std::string_view quote);
  void end_value();
  void end_call();
  void end_block();
  void act(DeltaKind kind, std::string_view text);
  void act_deferred();
  void send_act(Delta delta);
  std::span<const LoggedToken> act_logs(DeltaKind kind) const;

  ParsingOptions options_;
  bool markup_;
  DeltaSink& sink_;
  ParserState state_ = ParserState::kContent;
  ParserState return_to_ = ParserState::kContent;  // behind muted markup
  Mute mute_ = Mute::kNone;
  bool skip_line_ends_ = false;
  bool stops_apply_ = false;
  bool has_call_ = false;
  bool call_open_ = false;
  bool has_parameter_ = false;
  bool begun_ = false;  // kDeepseek: text was read
  bool cut_ = false;    // kDeepseek: what was read last is a delimiter
  bool defer_ = false;  // kDeepseek: what delimiters do waits for the end of the piece
  std::optional<Delta> deferred_;

  std::bitset<256> first_bytes_;  // bytes that make scan() look closer
  DelimiterMatcher matcher_;
  StopStrings stops_;
  JsonExtent extent_;
  const std::string* stop_ = nullptr;

  std::size_t begin_ = 0;              // of the piece at hand: what is before it was handled
  std::span<const LoggedToken> logs_;  // of the piece at hand
  std::string held_;                   // text that waits
  std::vector<Held> held_pieces_;
  std::vector<LoggedToken> held_logs_;  // kDefault: of tokens whose text is still to come
  std::string name_;                    // of a call or a parameter
  std::string left_out_;                // kDefault: what came instead of JSON or a call
  std::string value_;                   // kDefault: a parameter that is not a string; scratch
};

}  // namespace troupe::recipe
