// The protocol of the response store: answers of /v1/responses that clients may come back to.
//
//   streams → store   KeepResponse: an answer has ended (before its client sees the end)
//   request → store   FetchConversation: what was said up to a response
//   store → request   ConversationFetched
//   request → store   AskResponse: GET or DELETE of one
//   store → request   ResponseAnswered
//   node → gateway    ResponsesStarted: the store has begun a life
//
// Records are shared, not copied; these messages never leave the node.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"
#include "runtime/actor/system_messages.hpp"

namespace troupe {

/// One response as it is kept. Texts are JSON.
struct StoredResponse {
  std::string id;
  std::string previous;      ///< the response before it; empty: it began a conversation
  std::int64_t created = 0;  ///< seconds since 1970
  std::string input;         ///< its own input items, with commas between
  std::string body;          ///< the response object
  /// Whose key it was made with, which alone may see it; empty: nobody's. Not among the fields: the
  /// file writes it by itself (response_file.cpp).
  std::string owner;
  static void fields(auto& self, auto&& visit) {
    visit("id", self.id);
    visit("previous", self.previous);
    visit("created", self.created);
    visit("input", self.input);
    visit("body", self.body);
  }
};

using SharedResponse = std::shared_ptr<const StoredResponse>;

/// From the first response of a conversation to the last.
struct ResponseChain {
  std::vector<SharedResponse> responses;
  static void fields(auto&, auto&&) {}
};

struct KeepResponse {
  static constexpr MessageInfo info{0x0801, "keep_response"};
  ResponseChain one;  ///< exactly one
  static void fields(auto& self, auto&& visit) { visit("one", self.one); }
};

struct FetchConversation {
  static constexpr MessageInfo info{0x0802, "fetch_conversation"};
  std::string id;
  std::string owner;              ///< the asker's tenant
  std::int64_t unix_seconds = 0;  ///< wall clock at the asker
  static void fields(auto& self, auto&& visit) {
    visit("id", self.id);
    visit("owner", self.owner);
    visit("unix_seconds", self.unix_seconds);
  }
};

struct ConversationFetched {
  static constexpr MessageInfo info{0x0803, "conversation_fetched"};
  bool found = false;
  Code code = Code::kNotFound;  ///< if not found
  std::string message;          ///< if not found
  ResponseChain chain;
  static void fields(auto& self, auto&& visit) {
    visit("found", self.found);
    visit("code", self.code);
    visit("message", self.message);
    visit("chain", self.chain);
  }
};

struct AskResponse {
  static constexpr MessageInfo info{0x0804, "ask_response"};
  std::string id;
  std::string owner;  ///< the asker's tenant
  bool drop = false;  ///< DELETE, else GET
  std::int64_t unix_seconds = 0;
  static void fields(auto& self, auto&& visit) {
    visit("id", self.id);
    visit("owner", self.owner);
    visit("drop", self.drop);
    visit("unix_seconds", self.unix_seconds);
  }
};

struct ResponseAnswered {
  static constexpr MessageInfo info{0x0805, "response_answered"};
  bool found = false;
  Code code = Code::kNotFound;  ///< if not found
  std::string message;          ///< if not found
  std::string body;             ///< of the answer
  ResponseChain one;            ///< what was asked for, unless it was dropped
  static void fields(auto& self, auto&& visit) {
    visit("found", self.found);
    visit("code", self.code);
    visit("message", self.message);
    visit("body", self.body);
    visit("one", self.one);
  }
};

struct ResponsesStarted {
  static constexpr MessageInfo info{0x0806, "responses_started"};
  ActorRef store;
  static void fields(auto& self, auto&& visit) { visit("store", self.store); }
};

class ResponseShelf;

/// What the file held; the output of the job that opens it.
struct LogOpened {
  static constexpr MessageInfo info{0x0807, "log_opened"};
  std::shared_ptr<ResponseShelf> kept;  ///< the receiver's from now on
  std::string problem;                  ///< not empty: something was damaged, and is left out
  std::uint64_t log_bytes = 0;
  static void fields(auto& self, auto&& visit) {
    visit("problem", self.problem);
    visit("log_bytes", self.log_bytes);
  }
};

/// The output of a job that writes.
struct LogWritten {
  static constexpr MessageInfo info{0x0808, "log_written"};
  std::uint64_t log_bytes = 0;
  static void fields(auto& self, auto&& visit) { visit("log_bytes", self.log_bytes); }
};

using ResponseStoreProtocol =
    Protocol<Started, KeepResponse, FetchConversation, AskResponse, Done<LogOpened>,
             Done<LogWritten>, TimerFired, Down, Undeliverable, Drain>;

}  // namespace troupe
