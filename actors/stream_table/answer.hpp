// How an answer becomes bytes: the seam between the stream table and the protocols.
//
// The request's preparation chooses an AnswerFormat; the stream table opens one AnswerWriter a row
// and feeds it what the rank brings. One writer serves streams and whole bodies, so that both say
// the same. Writers are pure: ids and times are given to them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/rank/rank_messages.hpp"
#include "actors/responses/response_messages.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe {

/// What an answer says about itself beside its text.
struct AnswerTally {
  std::uint32_t cached_tokens = 0;
  std::uint32_t reasoning_tokens = 0;
  bool calls_tools = false;  ///< it ended with calls
};

class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;
  /// Its row ends. A writer without a state may serve many rows, and does nothing here.
  virtual void release() { delete this; }
  /// The calls that follow are about this choice of several, from 0. Until the first one: choice 0.
  virtual void turn_to(std::uint32_t /*choice*/) {}
  /// How long after its arrival the request is now: answers that say when they ended need it.
  virtual void passed(Duration /*since_arrival*/) {}
  /// Appends the bytes that these tokens add to a stream. True: a stop string matched, and the
  /// answer (the choice) ends here.
  virtual bool feed(const RowTokens& tokens, std::string& out) = 0;
  /// Appends the rest of a stream, or the whole body; of several choices, when the last one ends.
  virtual void finish(Finish finish, std::uint32_t output_tokens, std::string& out) = 0;
  /// Appends what tells the client of a stream that it goes on, and begins it if nothing has.
  /// Requires: the format is streamed, and its end was not written.
  virtual void keep_alive(std::string& out) = 0;
  /// Appends what tells the client of a stream that has begun that it failed.
  virtual void fail(Code code, const std::string& message, std::string& out) = 0;
  /// So far; whole after finish().
  virtual AnswerTally tally() const { return {}; }
  /// The finished answer, if it is to be kept for later requests.
  virtual SharedResponse kept() const { return nullptr; }
};

struct ReleaseWriter {
  void operator()(AnswerWriter* writer) const { writer->release(); }
};
using WriterOfRow = std::unique_ptr<AnswerWriter, ReleaseWriter>;

template <class Writer, class... Args>
WriterOfRow make_writer(Args&&... args) {
  return WriterOfRow(std::make_unique<Writer>(std::forward<Args>(args)...).release());
}

class AnswerFormat {
 public:
  virtual ~AnswerFormat() = default;
  virtual recipe::Protocol protocol() const = 0;  ///< whose form errors have
  virtual bool streamed() const = 0;
  virtual const char* content_type() const = 0;
  /// The writer may be of this object: it ends first.
  virtual WriterOfRow open() const = 0;
};

}  // namespace troupe
