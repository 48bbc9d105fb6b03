// The protocols of serving with prefill and decode apart.
//
//   gateway's request → route   as to a rank (rank_messages.hpp): SubmitRow, CancelRow
//   route ↔ balancers       prefill_messages.hpp, decode_messages.hpp, vision_messages.hpp
//   route ↔ encoder machine encoder_messages.hpp
//   route → fabric          MoveBytes, StopMove;     fabric → route    BytesMoved
//   route → prefill engine  StartPrefill, StopPrefill;  engine → route  PrefillEnded
//   engine → decode balancer   ReserveDecode in the route's name: the last chunk is in a step
//   route → decode instance StartDecode, StopDecode; instance → route  DecodeEnded, DecodeRefused
//   route → engine, instance   AskGroup;             group → route     GroupHas, GroupStopped
//   fault plan → fabric     LinksChanged
//   engine, instance → streams   TokenBatch in the name of the route: the first token from the
//                                engine, the others from the instance
//
// Groups tell what ended in a step in one message to each route.
//
// Invariants: (1) each MoveBytes but a write gets one BytesMoved, unless it is stopped; (2) engines
// and instances watch routes: a route's end frees what it has there; (3) a StartPrefill or
// StartDecode leads to one row of a PrefillEnded or DecodeEnded, unless it is stopped or the group
// ends; (4) `generation` is that of the balancer's answer: the group repeats it to the balancer;
// (5) messages between nodes may be lost: a route asks a group that was silent for long (AskGroup
// is answered by GroupHas), and repeats a stop until GroupStopped.
#pragma once

#include <memory>
#include <vector>

#include "actors/rank/rank_messages.hpp"
#include "runtime/device/group_step.hpp"
#include "runtime/simulation/fabric_speeds.hpp"

namespace troupe {

/// A GPU's place in the network: an index of all GPUs of the cluster.
struct PortId : Strong<PortId, std::uint32_t> {
  using Strong::Strong;
};

enum class MoveKind : std::uint8_t {
  kFetch = 0,  ///< storage → a prefill machine
  kPush,       ///< prefill GPU → decode GPU
  kWrite,      ///< a decode GPU → storage; nobody waits for it
};

/// The lowest bits of a transfer's number count those of one request (two a life, and
/// those of lives that lost their group); the rest is its id.
inline constexpr std::uint64_t kMovesBits = 8;

struct MoveBytes {
  static constexpr MessageInfo info{0x0830, "move_bytes"};
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
  static constexpr MessageInfo info{0x0831, "stop_move"};
  std::uint64_t move = 0;
  static void fields(auto& self, auto&& visit) { visit("move", self.move); }
};

struct BytesMoved {
  static constexpr MessageInfo info{0x0832, "bytes_moved"};
  std::uint64_t move = 0;
  static void fields(auto& self, auto&& visit) { visit("move", self.move); }
};

/// From now on a part of the fabric has this share of its planned bandwidth.
struct LinksChanged {
  static constexpr MessageInfo info{0x0839, "links_changed"};
  FabricPart part = FabricPart::kNic;
  PortId port;  ///< of a NIC
  double share = 1;
  static void fields(auto& self, auto&& visit) {
    visit("part", self.part);
    visit("port", self.port);
    visit("share", self.share);
  }
};

/// Its hit is on the machine: it joins the FIFO of that rank.
struct StartPrefill {
  static constexpr MessageInfo info{0x0833, "start_prefill"};
  RequestId request;
  std::uint32_t member = 0;
  std::uint32_t generation = 0;
  std::uint32_t hit = 0;
  std::uint32_t length = 0;
  std::uint32_t output_most = 0;  ///< 0: no bound
  Duration time_left;             ///< until the request's deadline
  ActorRef streams;               ///< gets the first token; nobody: its client has it
  SealedWork sealed;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("member", self.member);
    visit("generation", self.generation);
    visit("hit", self.hit);
    visit("length", self.length);
    visit("output_most", self.output_most);
    visit("time_left", self.time_left);
    visit("streams", self.streams);
  }
};

struct StopPrefill {
  static constexpr MessageInfo info{0x0834, "stop_prefill"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

struct EndedPrompt {
  RequestId request;
  bool complete = false;  ///< the first token was the whole answer
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("complete", self.complete);
  }
};

/// One a step, not one a request.
struct PrefillEnded {
  static constexpr MessageInfo info{0x0835, "prefill_ended"};
  std::vector<EndedPrompt> rows;
  static void fields(auto& self, auto&& visit) { visit("rows", self.rows); }
};

/// Its KV is on the GPU.
struct StartDecode {
  static constexpr MessageInfo info{0x0836, "start_decode"};
  RequestId request;
  std::uint32_t member = 0;
  std::uint32_t generation = 0;
  std::uint32_t context = 0;    ///< tokens of its KV
  std::uint32_t generated = 0;  ///< tokens that its client has
  ActorRef streams;
  SealedWork sealed;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("member", self.member);
    visit("generation", self.generation);
    visit("context", self.context);
    visit("generated", self.generated);
    visit("streams", self.streams);
  }
};

struct StopDecode {
  static constexpr MessageInfo info{0x0837, "stop_decode"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

struct EndedAnswer {
  RequestId request;
  std::uint32_t output = 0;  ///< tokens of the whole answer
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("output", self.output);
  }
};

/// One a step, not one a request.
struct DecodeEnded {
  static constexpr MessageInfo info{0x0838, "decode_ended"};
  std::vector<EndedAnswer> rows;
  static void fields(auto& self, auto&& visit) { visit("rows", self.rows); }
};

/// Its member has all the rows that it takes: the balancer's count is not the group's.
struct DecodeRefused {
  static constexpr MessageInfo info{0x083a, "decode_refused"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

/// To an engine or an instance: whether it has this request of the asker's.
struct AskGroup {
  static constexpr MessageInfo info{0x083b, "ask_group"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

struct GroupHas {
  static constexpr MessageInfo info{0x083c, "group_has"};
  RequestId request;
  bool here = false;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("here", self.here);
  }
};

/// Nothing of the request is there any more.
struct GroupStopped {
  static constexpr MessageInfo info{0x083d, "group_stopped"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

}  // namespace troupe
