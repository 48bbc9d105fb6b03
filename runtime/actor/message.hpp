// Messages: immutable, shared, described once.
//
// A message type is a described struct (base/fields.hpp) with `static constexpr MessageInfo info`.
// `Message` is a counted pointer to one that forgot its type; `as<M>()` finds it again. A local
// send costs that pointer. Everything else (encode, decode, digest, print) goes through the type's
// `MessageType` table, so nothing but the registry needs to know all types.
//
// Threads: a payload never changes after it is made; counting is atomic as soon as the process has
// two threads (a simulation has one, and counts much).
// Kinds: one 16-bit number a type, ranges by folder: 0x00 system, 0x01 gateway, 0x02 request,
// 0x03 rank, 0x04 streams, 0x05 traffic, 0x06 node, 0x07 cluster, 0x08 balancers, pools; bit 15
// marks Done<M>.
#pragma once

#include <sys/single_threaded.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/actor/payload_pool.hpp"
#include "runtime/base/fields.hpp"
#include "runtime/base/message_info.hpp"

namespace troupe {

class Message;
struct Payload;

/// What can be done with a payload whose type is forgotten.
struct MessageType {
  MessageInfo info;
  void (*destroy)(const Payload*);
  void (*encode)(const Payload&, std::string& out);
  Result<Message> (*decode)(std::string_view bytes);
  std::uint64_t (*digest)(const Payload&);
  void (*print)(const Payload&, std::string& out);
};

struct Payload {
  explicit Payload(const MessageType& t) : type(&t) {}
  const MessageType* type;
  mutable std::atomic<std::uint32_t> references{1};
};

template <class M>
struct PayloadOf final : Payload {
  template <class... Args>
  explicit PayloadOf(const MessageType& t, Args&&... args)
      : Payload(t), value{std::forward<Args>(args)...} {}
  const M value;

  static void* operator new(std::size_t size) { return PayloadPool::take(size); }
  static void operator delete(void* block, std::size_t size) { PayloadPool::give(block, size); }
};

class Message {
 public:
  Message() = default;
  /// Takes over the one reference that a new payload has.
  explicit Message(const Payload* payload) : payload_(payload) {}
  Message(const Message& other) : payload_(other.payload_) { retain(); }
  Message(Message&& other) noexcept : payload_(std::exchange(other.payload_, nullptr)) {}
  Message& operator=(Message other) noexcept {
    std::swap(payload_, other.payload_);
    return *this;
  }
  ~Message() { release(); }

  explicit operator bool() const { return payload_ != nullptr; }
  /// Requires for all below: not empty.
  const MessageType& type() const { return *payload_->type; }
  std::uint16_t kind() const { return payload_->type->info.kind; }
  const Payload& payload() const { return *payload_; }
  std::uint64_t digest() const { return type().digest(*payload_); }
  /// "submit{request=7 …}".
  std::string describe() const;

  /// The message if it is an M, else nullptr.
  template <class M>
  const M* as() const {
    if (payload_ == nullptr || kind() != M::info.kind) return nullptr;
    return &static_cast<const PayloadOf<M>*>(payload_)->value;
  }

 private:
  void retain() const {
    if (payload_ == nullptr) return;
    std::atomic<std::uint32_t>& count = payload_->references;
    if (__libc_single_threaded) {
      count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count.fetch_add(1, std::memory_order_relaxed);
    }
  }
  void release() {
    if (payload_ != nullptr && drop_reference()) payload_->type->destroy(payload_);
  }
  /// True: it was the last one.
  bool drop_reference() const {
    std::atomic<std::uint32_t>& count = payload_->references;
    if (!__libc_single_threaded) return count.fetch_sub(1, std::memory_order_acq_rel) == 1;
    const std::uint32_t left = count.load(std::memory_order_relaxed) - 1;
    count.store(left, std::memory_order_relaxed);
    return left == 0;
  }
  const Payload* payload_ = nullptr;
};

namespace detail {
template <class M>
const M& value_of(const Payload& payload) {
  return static_cast<const PayloadOf<M>&>(payload).value;
}
}  // namespace detail

/// The one table of M: defined in message_type.hpp, and instantiated once, by the .cpp of M's
/// folder, because the code behind it is long and every file that sends an M would hold it.
template <class M>
const MessageType& message_type();

template <class M, class... Args>
Message make_message(Args&&... args) {
  static_assert(alignof(M) <= alignof(std::max_align_t), "payloads have plain alignment");
  return Message(new PayloadOf<M>(message_type<M>(), std::forward<Args>(args)...));
}

/// A counted pointer to an immutable M inside a message: how results and prompts are shared without
/// copying. Empty by default.
template <class M>
class Shared {
 public:
  Shared() = default;
  /// Requires: message holds an M.
  explicit Shared(Message message) : message_(std::move(message)) {
    TROUPE_ASSERT(message_.as<M>() != nullptr, "a Shared<M> needs a message of type M");
  }
  static Shared make(M value) { return Shared(make_message<M>(std::move(value))); }

  explicit operator bool() const { return static_cast<bool>(message_); }
  const M& operator*() const { return detail::value_of<M>(message_.payload()); }
  const M* operator->() const { return &**this; }
  const Message& message() const { return message_; }

 private:
  Message message_;
};

}  // namespace troupe
