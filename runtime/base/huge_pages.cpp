#include "runtime/base/huge_pages.hpp"

#include <jemalloc/jemalloc.h>
#include <sys/mman.h>

#include <cstdint>

// Programs that are built with a sanitizer have no jemalloc.
#pragma weak mallctl

namespace troupe {

namespace {

constexpr std::size_t kHugePage = 2u << 20;
/// Taken from the system at once: many extents share its pages.
constexpr std::size_t kRegion = 64u << 20;

thread_local char* region = nullptr;
thread_local std::size_t region_left = 0;

bool take_region(std::size_t size) {
  void* memory = ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  region = reinterpret_cast<char*>((address + kHugePage - 1) / kHugePage * kHugePage);
  region_left = size;
  ::madvise(region, size, MADV_HUGEPAGE);
  return true;
}

void* take_extent(extent_hooks_t*, void* wanted, std::size_t size, std::size_t alignment,
                  bool* zero, bool* commit, unsigned) {
  if (wanted != nullptr) return nullptr;  // at an address of its choice: never
  const auto padding = [&] {
    const auto address = reinterpret_cast<std::uintptr_t>(region);
    return (alignment - address % alignment) % alignment;
  };
  if (region == nullptr || padding() + size > region_left) {
    const std::size_t least = (size + alignment + kHugePage - 1) / kHugePage * kHugePage;
    if (!take_region(least > kRegion ? least : kRegion)) return nullptr;
  }
  region_left -= padding() + size;
  region += padding();
  void* extent = region;
  region += size;
  *zero = true;
  *commit = true;
  return extent;
}

bool split(extent_hooks_t*, void*, std::size_t, std::size_t, std::size_t, bool, unsigned) {
  return false;  // done
}
bool merge(extent_hooks_t*, void*, std::size_t, void*, std::size_t, bool, unsigned) {
  return false;  // done
}

/// Nothing goes back to the system: it would break up the pages.
extent_hooks_t hooks{&take_extent, nullptr, nullptr, nullptr, nullptr,
                     nullptr,      nullptr, &split,  &merge};

}  // namespace

bool use_huge_pages() {
  if (&mallctl == nullptr) return false;
  unsigned arena = 0;
  std::size_t size = sizeof arena;
  extent_hooks_t* ours = &hooks;
  if (mallctl("arenas.create", &arena, &size, &ours, sizeof ours) != 0) return false;
  if (mallctl("thread.arena", nullptr, nullptr, &arena, sizeof arena) != 0) return false;
  // What the thread's cache still holds is of the arena before.
  return mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0) == 0;
}

}  // namespace troupe
