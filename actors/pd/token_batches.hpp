// The TokenBatches of one step: one a stream table, with all of its rows.
//
// A simulated token is its number alone; a batch may hold a whole answer, since nobody reads the
// tokens of a simulated request while they come.
#pragma once

#include <utility>
#include <vector>

#include "actors/rank/rank_messages.hpp"
#include "runtime/actor/effects.hpp"

namespace troupe {

class TokenBatches {
 public:
  /// `as`: the rank by which the stream table knows the row. Nobody as `streams`: it has them
  /// already.
  void add(const ActorRef& streams, const ActorRef& as, RequestId request, std::uint32_t first,
           std::uint32_t count, bool finish) {
    RowTokens row;
    row.request = request;
    row.first = first;
    row.unseen = count;
    row.finish = finish ? Finish::kStop : Finish::kNone;
    add(streams, as, std::move(row));
  }
  void add(const ActorRef& streams, const ActorRef& as, RowTokens row) {
    if (streams) batch_of(streams, as).rows.push_back(std::move(row));
  }

  void hand_out(std::uint64_t step, Effects& out) {
    for (auto& [streams, batch] : batches_) {
      batch.step = step;
      out.send(streams, make_message<TokenBatch>(std::move(batch)));
    }
    batches_.clear();
  }

 private:
  TokenBatch& batch_of(const ActorRef& streams, const ActorRef& as) {
    for (auto& [known, batch] : batches_) {
      if (known == streams && batch.rank == as) return batch;
    }
    batches_.emplace_back(streams, TokenBatch{as});
    return batches_.back().second;
  }
  std::vector<std::pair<ActorRef, TokenBatch>> batches_;  ///< few: one a gateway
};

}  // namespace troupe
