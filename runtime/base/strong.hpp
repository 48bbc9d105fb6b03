// Strong types: numbers that cannot be mixed up.
//
// `struct BlockId : Strong<BlockId, std::uint32_t> { using Strong::Strong; };` makes a type that
// compares, hashes and prints, but does not convert to or from a bare integer or another id.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace troupe {

template <class Tag, class Number>
struct Strong {
  using Underlying = Number;
  Number value{};

  constexpr Strong() = default;
  constexpr explicit Strong(Number v) : value(v) {}
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;
};

/// A strong type that also adds and subtracts: an amount with a unit.
template <class Tag, class Number>
struct Amount : Strong<Tag, Number> {
  using Strong<Tag, Number>::Strong;
  friend constexpr Tag operator+(Tag a, Tag b) { return Tag(a.value + b.value); }
  friend constexpr Tag operator-(Tag a, Tag b) { return Tag(a.value - b.value); }
  constexpr Tag& operator+=(Tag other) {
    this->value += other.value;
    return static_cast<Tag&>(*this);
  }
  constexpr Tag& operator-=(Tag other) {
    this->value -= other.value;
    return static_cast<Tag&>(*this);
  }
};

/// A token id of a vocabulary.
struct TokenId : Strong<TokenId, std::int32_t> {
  using Strong::Strong;
};
/// A KV block of one rank's pool (128 tokens).
struct BlockId : Strong<BlockId, std::uint32_t> {
  using Strong::Strong;
};
/// A request, unique in a cluster's life: its gateway's life in the high bits.
struct RequestId : Strong<RequestId, std::uint64_t> {
  using Strong::Strong;
};
/// An asynchronous operation, unique within the actor life that started it.
struct OpId : Strong<OpId, std::uint64_t> {
  using Strong::Strong;
};
/// A row of device-side sequence state (sampler, last token) of one rank.
struct RowId : Strong<RowId, std::uint32_t> {
  using Strong::Strong;
};
/// An amount of memory or traffic.
struct Bytes : Amount<Bytes, std::uint64_t> {
  using Amount::Amount;
};

}  // namespace troupe

template <class T>
requires std::is_base_of_v<troupe::Strong<T, typename T::Underlying>, T>
struct std::hash<T> {
  std::size_t operator()(const T& id) const noexcept {
    return std::hash<typename T::Underlying>{}(id.value);
  }
};
