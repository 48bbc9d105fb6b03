// The protocols of serving with prefill and decode apart.
//
//   gateway's request ── SubmitRow ──▶ route ── spawns ──▶ flow, one a request:
//
//   flow → entrypoint      CheckPrefix;        entrypoint → flow   PrefixChecked
//   flow → prefill balancer (prefill_messages.hpp), decode balancer (decode_messages.hpp)
//   flow → fabric          MoveBytes, StopMove; fabric → flow      BytesMoved
//   flow → prefill engine  StartPrefill, StopPrefill
//   engine → flow          PrefillScheduled (its last chunk is in a step), PrefillEnded
//   flow → decode instance StartDecode, StopDecode;  instance → flow  DecodeEnded
//   engine, instance → streams   TokenBatch in the name of the route: the first token from the
//                                engine, the others from the instance
//   flow → entrypoint      PrefixComputed: its blocks are in the store now
//
// Invariants: (1) each CheckPrefix and MoveBytes gets one answer, unless it is stopped; (2) engines
// and instances watch the flow: its end frees what it has there, in any state; (3) a StartPrefill
// or StartDecode leads to one PrefillEnded or DecodeEnded, unless it is stopped or the group ends;
// (4) `generation` is that of the balancer's answer: the group repeats it to the balancer.
#pragma once

#include <memory>
#include <vector>

#include "actors/rank/rank_messages.hpp"
#include "runtime/device/group_step.hpp"

namespace troupe {

/// A GPU's place in the network: an index of all GPUs of the cluster.
struct PortId : Strong<PortId, std::uint32_t> {
  using Strong::Strong;
};

struct CheckPrefix {
  static constexpr MessageInfo info{0x0830, "check_prefix"};
  RequestId request;
  std::uint32_t length = 0;  ///< tokens of the prompt
  SealedWork sealed;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("length", self.length);
  }
};

struct PrefixChecked {
  static constexpr MessageInfo info{0x0831, "prefix_checked"};
  RequestId request;
  std::uint32_t hit = 0;  ///< tokens that need not be computed, by the hit policy
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("hit", self.hit);
  }
};

struct PrefixComputed {
  static constexpr MessageInfo info{0x0832, "prefix_computed"};
  RequestId request;
  SealedWork sealed;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

enum class MoveKind : std::uint8_t {
  kFetch = 0,  ///< storage → a prefill machine
  kPush,       ///< prefill GPU → decode GPU
  kWrite,      ///< a decode GPU → storage; nobody waits for it
};

struct MoveBytes {
  static constexpr MessageInfo info{0x0833, "move_bytes"};
  std::uint64_t move = 0;  ///< chosen by the sender, not 0, unique in the world; a write's is 0
  MoveKind kind = MoveKind::kFetch;
  PortId from;  ///< of a push or a write
  PortId to;    ///< of a fetch or a push
  std::uint64_t bytes = 0;
  static void fields(auto& self, auto&& visit) {
    visit("move", self.move);
    visit("kind", self.kind);
    visit("from", self.from);
    visit("to", self.to);
    visit("bytes", self.bytes);
  }
};

struct StopMove {
  static constexpr MessageInfo info{0x0834, "stop_move"};
  std::uint64_t move = 0;
  static void fields(auto& self, auto&& visit) { visit("move", self.move); }
};

struct BytesMoved {
  static constexpr MessageInfo info{0x0835, "bytes_moved"};
  std::uint64_t move = 0;
  static void fields(auto& self, auto&& visit) { visit("move", self.move); }
};

/// Its hit is on the machine: it joins the FIFO of that rank.
struct StartPrefill {
  static constexpr MessageInfo info{0x0836, "start_prefill"};
  RequestId request;
  std::uint32_t member = 0;
  std::uint32_t generation = 0;
  std::uint32_t hit = 0;
  std::uint32_t length = 0;
  ActorRef streams;
  ActorRef as;  ///< the rank that the stream table knows the row by
  SealedWork sealed;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("member", self.member);
    visit("generation", self.generation);
    visit("hit", self.hit);
    visit("length", self.length);
    visit("streams", self.streams);
    visit("as", self.as);
  }
};

struct StopPrefill {
  static constexpr MessageInfo info{0x0837, "stop_prefill"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

struct PrefillScheduled {
  static constexpr MessageInfo info{0x0838, "prefill_scheduled"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

struct PrefillEnded {
  static constexpr MessageInfo info{0x0839, "prefill_ended"};
  RequestId request;
  bool complete = false;  ///< the first token was the whole answer
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("complete", self.complete);
  }
};

/// Its KV is on the GPU.
struct StartDecode {
  static constexpr MessageInfo info{0x083a, "start_decode"};
  RequestId request;
  std::uint32_t member = 0;
  std::uint32_t generation = 0;
  std::uint32_t context = 0;    ///< tokens of its KV
  std::uint32_t generated = 0;  ///< tokens that its client has
  ActorRef streams;
  ActorRef as;
  SealedWork sealed;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("member", self.member);
    visit("generation", self.generation);
    visit("context", self.context);
    visit("generated", self.generated);
    visit("streams", self.streams);
    visit("as", self.as);
  }
};

struct StopDecode {
  static constexpr MessageInfo info{0x083b, "stop_decode"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

struct DecodeEnded {
  static constexpr MessageInfo info{0x083c, "decode_ended"};
  RequestId request;
  std::uint32_t output = 0;  ///< tokens of the whole answer
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("output", self.output);
  }
};

}  // namespace troupe
