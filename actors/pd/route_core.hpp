// Route: a cluster with prefill and decode apart, seen as one rank.
//
// To gateway, requests and stream table it is a rank (rank_messages.hpp): they need not know how
// many GPUs stand behind it. Each row becomes a flow (flow_core.hpp), a child.
//
// Invariants
// 1. At most `rows_most` flows live; more rows are rejected.
// 2. A flow that ends by a fault ends its row with an error that the client sees.
// 3. A row's parking is not passed on: its tokens come in two batches, and KV costs nothing more.
#pragma once

#include <memory>
#include <string>

#include "actors/gateway/gateway_messages.hpp"
#include "actors/pd/flow_core.hpp"
#include "runtime/base/flat_map.hpp"

namespace troupe {

class RouteCore {
 public:
  using Accepts = Protocol<Started, SubmitRow, CancelRow, ParkRow, BatchTaken, Down, Undeliverable>;
  struct Args {
    ActorRef node;  ///< hears of it as of any rank
    std::string model;
    std::uint32_t context_max = 0;
    std::uint32_t rows_most = 1u << 20;
    std::shared_ptr<const PdWiring> wiring;
  };
  static constexpr const char* kKind = "route";

  explicit RouteCore(const Args& args) : args_(args) {}

  void on(const Started&, Context& context, Effects& out);
  void on(const SubmitRow& submit, Context& context, Effects& out);
  void on(const CancelRow& cancel, Context& context, Effects& out);
  void on(const ParkRow&, Context&, Effects&) {}
  void on(const BatchTaken&, Context&, Effects&) {}
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable&, Context&, Effects&) {}  // requests that have ended are watched

  std::string describe() const { return "flows=" + std::to_string(flows_.size()); }
  std::size_t flows() const { return flows_.size(); }

 private:
  struct Flow {
    ActorRef ref;
    ActorRef streams;
  };
  Args args_;
  FlatMap<Flow> flows_;         ///< by request
  FlatMap<RequestId> by_flow_;  ///< by the flow's local id
};

}  // namespace troupe
