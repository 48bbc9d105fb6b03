// One description of a struct's fields serves the codec, the trace digest and the console.
//
// A type describes itself once:
//
//   struct Submit {
//     RequestId request;
//     std::vector<TokenId> tokens;
//     static void fields(auto& self, auto&& visit) {
//       visit("request", self.request);
//       visit("tokens", self.tokens);
//     }
//   };
//
// and `encode`, `decode`, `digest` and `print` follow. Supported: bool, integers, enums, double,
// std::string, Strong ids, std::vector, std::optional, std::pair and nested described structs.
//
// Wire format: little-endian, fixed width; bool and the presence of an optional are one byte, which
// must be 0 or 1; strings and vectors are a 32-bit count, then the items.
//
// Invariants: (1) decode(encode(x)) == x; (2) decode of any bytes ends with a value or an Error,
// allocates at most in proportion to the input, and reads every byte exactly once.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/digest.hpp"
#include "runtime/base/result.hpp"

namespace troupe {

namespace detail {
struct AnyVisitor {
  void operator()(const char*, const auto&) {}
};
}  // namespace detail

template <class T>
concept Described = requires(T& t) {
  T::fields(t, detail::AnyVisitor{});
};

template <class T>
concept StrongNumber = requires(T t) {
  typename T::Underlying;
  t.value;
};

template <class T>
concept PlainNumber = std::is_integral_v<T> || std::is_enum_v<T> || std::is_same_v<T, double> ||
    std::is_same_v<T, float>;

/// Appends values to a byte string.
class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  template <PlainNumber T>
  void put(T value) {
    static_assert(std::endian::native == std::endian::little);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <StrongNumber T>
  void put(const T& value) {
    put(value.value);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    out_.append(text);
  }
  template <class T>
  void put(const std::vector<T>& items) {
    put(static_cast<std::uint32_t>(items.size()));
    if constexpr (sizeof(T) > 1 && StrongNumber<T> && std::is_trivially_copyable_v<T>) {
      out_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
    } else {
      for (const auto& item : items) put(static_cast<const T&>(item));
    }
  }
  template <class T>
  void put(const std::optional<T>& item) {
    put(item.has_value());
    if (item) put(*item);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& item) {
    put(item.first);
    put(item.second);
  }
  template <Described T>
  void put(const T& value) {
    T::fields(value, [&](const char*, const auto& field) { put(field); });
  }

 private:
  std::string& out_;
};

/// Reads values from bytes that nobody has checked. After the first problem every read does nothing
/// and `status()` tells what was wrong.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  template <PlainNumber T>
  void get(T& value) {
    if (!require(sizeof value, "a number")) return;
    if constexpr (std::is_same_v<T, bool>) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      if (byte > 1) return fail("a bool that is neither 0 nor 1");
      value = byte == 1;
    } else {
      std::memcpy(&value, rest_.data(), sizeof value);
    }
    rest_.remove_prefix(sizeof value);
  }
  template <StrongNumber T>
  void get(T& value) {
    get(value.value);
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    if (!require(size, "a string")) return;
    text.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  template <class T>
  void get(std::vector<T>& items) {
    std::uint32_t count = 0;
    get(count);
    // Every item takes at least one byte, so that a hostile count cannot ask for more than it sent.
    if (!require(count, "a list")) return;
    items.clear();
    for (std::uint32_t i = 0; i < count && ok(); ++i) {
      T item{};
      get(item);
      items.push_back(std::move(item));
    }
  }
  template <class T>
  void get(std::optional<T>& item) {
    bool present = false;
    get(present);
    if (!ok() || !present) return item.reset();
    item.emplace();
    get(*item);
  }
  template <class A, class B>
  void get(std::pair<A, B>& item) {
    get(item.first);
    get(item.second);
  }
  template <Described T>
  void get(T& value) {
    T::fields(value, [&](const char*, auto& field) { get(field); });
  }

  bool ok() const { return problem_ == nullptr; }
  std::string_view rest() const { return rest_; }
  void fail(const char* problem) {
    if (ok()) problem_ = problem;
  }
  Status status() const {
    if (ok()) return ok_status();
    return Error{Code::kCorrupt, std::string("cannot decode: ") + problem_};
  }

 private:
  bool require(std::size_t bytes, const char* what) {
    if (ok() && rest_.size() < bytes) problem_ = what;
    return ok();
  }

  std::string_view rest_;
  const char* problem_ = nullptr;
};

/// Folds every field into a digest.
class FieldDigester {
 public:
  explicit FieldDigester(Digest& digest) : digest_(digest) {}

  template <PlainNumber T>
  void put(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      digest_.add(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    } else {
      digest_.add(static_cast<std::uint64_t>(value));
    }
  }
  template <StrongNumber T>
  void put(const T& value) {
    put(value.value);
  }
  void put(const std::string& text) { digest_.add_bytes(text); }
  template <class T>
  void put(const std::vector<T>& items) {
    if constexpr (sizeof(T) > 1 && StrongNumber<T> && std::is_trivially_copyable_v<T>) {
      static_assert(std::endian::native == std::endian::little);
      digest_.add_bytes({reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)});
    } else {
      digest_.add(items.size());
      for (const auto& item : items) put(static_cast<const T&>(item));
    }
  }
  template <class T>
  void put(const std::optional<T>& item) {
    digest_.add(item.has_value() ? 1 : 0);
    if (item) put(*item);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& item) {
    put(item.first);
    put(item.second);
  }
  template <Described T>
  void put(const T& value) {
    T::fields(value, [&](const char*, const auto& field) { put(field); });
  }

 private:
  Digest& digest_;
};

/// Writes "name=value name=[1 2 3 …]" for people; long lists and strings are cut.
class FieldPrinter {
 public:
  explicit FieldPrinter(std::string& out) : out_(out) {}

  template <PlainNumber T>
  void put(T value) {
    if constexpr (std::is_enum_v<T>) {
      out_ += std::to_string(static_cast<std::int64_t>(value));
    } else {
      out_ += std::to_string(value);
    }
  }
  template <StrongNumber T>
  void put(const T& value) {
    put(value.value);
  }
  void put(const std::string& text) {
    out_ += '"';
    out_ += text.size() <= kTextMax ? text : text.substr(0, kTextMax) + "…";
    out_ += '"';
  }
  template <class T>
  void put(const std::vector<T>& items) {
    out_ += '[';
    for (std::size_t i = 0; i < items.size() && i < kItemsMax; ++i) {
      if (i > 0) out_ += ' ';
      put(static_cast<const T&>(items[i]));
    }
    out_ += items.size() > kItemsMax ? " … " + std::to_string(items.size()) + " in all]" : "]";
  }
  template <class T>
  void put(const std::optional<T>& item) {
    if (item) return put(*item);
    out_ += '-';
  }
  template <class A, class B>
  void put(const std::pair<A, B>& item) {
    put(item.first);
    out_ += ':';
    put(item.second);
  }
  template <Described T>
  void put(const T& value) {
    out_ += '{';
    bool first = true;
    T::fields(value, [&](const char* name, const auto& field) {
      if (!first) out_ += ' ';
      first = false;
      out_ += name;
      out_ += '=';
      put(field);
    });
    out_ += '}';
  }

 private:
  static constexpr std::size_t kTextMax = 80;
  static constexpr std::size_t kItemsMax = 16;
  std::string& out_;
};

}  // namespace troupe
