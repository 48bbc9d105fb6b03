#include "runtime/recipe/tokenizer/bpe_merges.hpp"

#include <bit>
#include <queue>

#include "runtime/base/assert.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

/// Up to this length a scan for the minimum beats the heap (words are mostly 2 to 12 bytes).
constexpr std::size_t kShortWord = 48;

constexpr std::uint32_t kNone = ~0u;

/// A symbol of a long word, linked to its neighbours. An absorbed symbol has id -1.
struct Node {
  TokenId id;
  std::uint32_t previous;
  std::uint32_t next;
};

/// A merge that applied when it was pushed; stale if one of its two symbols has changed since.
struct Candidate {
  std::uint32_t rank;
  std::uint32_t at;  // index of the left node
  TokenId left;
  TokenId right;
  TokenId joined;

  friend bool operator>(const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  }
};

using CandidateQueue =
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<Candidate>>;

}  // namespace

BpeMerges::BpeMerges(std::span<const Merge> merges) : slots_(std::bit_ceil(merges.size() * 2 + 2)) {
  const std::uint64_t mask = slots_.size() - 1;
  for (std::uint32_t rank = 0; rank < merges.size(); ++rank) {
    const std::uint64_t pair = pair_of(merges[rank].left, merges[rank].right);
    std::uint64_t at = splitmix64(pair) & mask;
    while (slots_[at].rank != kNoRank && slots_[at].pair != pair) at = (at + 1) & mask;
    if (slots_[at].rank == kNoRank) slots_[at] = {pair, rank, merges[rank].joined};
  }
}

std::uint64_t BpeMerges::pair_of(TokenId left, TokenId right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left.value)) << 32) |
         static_cast<std::uint32_t>(right.value);
}

/// The slot of the pair, or a free one.
const BpeMerges::Slot& BpeMerges::find(TokenId left, TokenId right) const {
  const std::uint64_t pair = pair_of(left, right);
  const std::uint64_t mask = slots_.size() - 1;
  std::uint64_t at = splitmix64(pair) & mask;
  while (slots_[at].rank != kNoRank && slots_[at].pair != pair) at = (at + 1) & mask;
  return slots_[at];
}

void BpeMerges::apply(std::vector<TokenId>& symbols) const {
  TROUPE_ASSERT(symbols.size() < kNone, "32 bits number the symbols of a word");
  if (symbols.size() <= kShortWord) {
    apply_short(symbols);
  } else {
    apply_long(symbols);
  }
}

void BpeMerges::apply_short(std::vector<TokenId>& symbols) const {
  // rank of the pair that starts at each symbol, so that a round looks up only what changed
  std::uint32_t ranks[kShortWord];
  std::size_t count = symbols.size();
  const auto rank_at = [&](std::size_t i) {
    return i + 1 < count ? find(symbols[i], symbols[i + 1]).rank : kNoRank;
  };
  for (std::size_t i = 0; i < count; ++i) ranks[i] = rank_at(i);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (ranks[i] < ranks[best]) best = i;
    }
    if (ranks[best] == kNoRank) break;
    symbols[best] = find(symbols[best], symbols[best + 1]).joined;
    --count;
    for (std::size_t i = best + 1; i < count; ++i) {
      symbols[i] = symbols[i + 1];
      ranks[i] = ranks[i + 1];
    }
    ranks[best] = rank_at(best);
    if (best > 0) ranks[best - 1] = rank_at(best - 1);
  }
  symbols.resize(count);
}

void BpeMerges::apply_long(std::vector<TokenId>& symbols) const {
  const auto count = static_cast<std::uint32_t>(symbols.size());
  std::vector<Node> nodes(count);
  std::vector<Candidate> storage;
  storage.reserve(count);
  CandidateQueue queue(std::greater<Candidate>{}, std::move(storage));
  const auto push = [&](std::uint32_t at) {
    if (at == kNone || nodes[at].next == kNone) return;
    const TokenId left = nodes[at].id;
    const TokenId right = nodes[nodes[at].next].id;
    const Slot& slot = find(left, right);
    if (slot.rank != kNoRank) queue.push({slot.rank, at, left, right, slot.joined});
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    nodes[i] = {symbols[i], i == 0 ? kNone : i - 1, i + 1 < count ? i + 1 : kNone};
  }
  for (std::uint32_t i = 0; i < count; ++i) push(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Node& left = nodes[best.at];
    if (left.id != best.left || left.next == kNone || nodes[left.next].id != best.right) continue;
    Node& right = nodes[left.next];
    left.id = best.joined;
    left.next = right.next;
    right.id = TokenId(-1);
    if (left.next != kNone) nodes[left.next].previous = best.at;
    push(left.previous);
    push(best.at);
  }
  symbols.clear();
  for (std::uint32_t i = 0; i != kNone; i = nodes[i].next) symbols.push_back(nodes[i].id);
}

}  // namespace troupe
