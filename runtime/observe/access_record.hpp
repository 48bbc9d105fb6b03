// One HTTP request as the access log tells it.
//
// A record is filled where the request passes and becomes text on the log's own thread
// (access_line.hpp), so that neither io threads nor actors format anything.
//
// Threads: plain values.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/actor/subject.hpp"
#include "runtime/base/time.hpp"
#include "runtime/base/trace_context.hpp"

namespace troupe {

struct AccessRecord {
  std::int64_t unix_ms = 0;   ///< wall clock of the arrival
  Subject id;                 ///< that the client sees; number 0: none
  std::string client_id;      ///< what the client sent as x-request-id
  TraceContext trace;         ///< none: traces are off
  std::string tenant;         ///< whose key it carried; empty: nobody's
  std::string peer;           ///< "127.0.0.1:54321"
  std::string method;         ///< empty, and the path: the head was not understood
  std::string path;           ///< without its query, which may hold what is secret
  const char* protocol = "";  ///< with static lifetime
  std::string model;
  int status = 0;  ///< 499: the client left
  bool streamed = false;
  bool generated = false;  ///< the numbers below mean something
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::uint32_t reasoning_tokens = 0;
  Duration queued;          ///< in the rank's queue
  Duration first_token;     ///< from arrival; 0: none came
  Duration decoded;         ///< first token to last
  Duration total;           ///< from arrival to the last byte
  const char* finish = "";  ///< with static lifetime; empty: nothing was generated
  std::uint64_t body_bytes = 0;
  std::string error;       ///< the code of the error object
  bool with_text = false;  ///< the operator asked for the two below
  std::string request_text;
  std::string answer_text;
};

}  // namespace troupe
