#include "runtime/actor/payload_pool.hpp"

#include <array>
#include <new>

namespace troupe {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TROUPE_PLAIN_PAYLOADS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TROUPE_PLAIN_PAYLOADS 1
#endif
#endif

#ifdef TROUPE_PLAIN_PAYLOADS

void* PayloadPool::take(std::size_t size) {
  return ::operator new(size);
}
void PayloadPool::give(void* block, std::size_t) noexcept {
  ::operator delete(block);
}

#else

namespace {

struct Block {
  Block* next;
};

struct List {
  Block* first = nullptr;
  std::size_t count = 0;
};

constexpr std::size_t kClasses = PayloadPool::kLargest / PayloadPool::kStep;

// The lists have no destructor, so that payloads freed late in a thread's end still find them;
// `Sweeper` empties them then and closes them: nothing is kept afterwards.
thread_local std::array<List, kClasses> lists;
thread_local bool closed = false;

struct Sweeper {
  bool armed = false;
  ~Sweeper() {
    closed = true;
    for (auto& list : lists) {
      while (list.first != nullptr) {
        Block* const block = list.first;
        list.first = block->next;
        ::operator delete(block);
      }
      list.count = 0;
    }
  }
};
thread_local Sweeper sweeper;

List& list_of(std::size_t size) {
  return lists[(size - 1) / PayloadPool::kStep];
}

}  // namespace

void* PayloadPool::take(std::size_t size) {
  if (size > kLargest) return ::operator new(size);
  List& list = list_of(size);
  if (Block* const block = list.first) {
    list.first = block->next;
    --list.count;
    return block;
  }
  return ::operator new((size + kStep - 1) / kStep * kStep);
}

void PayloadPool::give(void* block, std::size_t size) noexcept {
  if (size > kLargest) return ::operator delete(block);
  List& list = list_of(size);
  // The first block that a thread keeps arms its sweeper.
  if (list.count == 0) sweeper.armed = true;
  if (closed || list.count == kKeepMax) return ::operator delete(block);
  list.first = new (block) Block{list.first};
  ++list.count;
}

#endif

}  // namespace troupe
