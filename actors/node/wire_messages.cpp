#include "actors/node/wire_messages.hpp"

#include "actors/node/node_messages.hpp"

namespace troupe {

MessageRegistry wire_messages() {
  MessageRegistry registry;
  registry.add(Protocol<SubmitRow, CancelRow, ParkRow, BatchTaken, RowRejected, TokenBatch>{});
  registry.add(Protocol<RankJoined, RankLeft>{});
  registry.add(Protocol<Down, Undeliverable>{});
  return registry;
}

}  // namespace troupe
