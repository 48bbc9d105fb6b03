#include "tools/simulate/huge_pages.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <memory>

namespace troupe {

namespace {
constexpr std::uintptr_t kHugePage = 2u << 20;
constexpr std::size_t kProbe = 64u << 10;
}  // namespace

void prefer_huge_pages(std::size_t bytes) {
  // The next growth of the heap takes `bytes` at once, and keeps them.
  mallopt(M_TOP_PAD, static_cast<int>(bytes));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(bytes));
  const auto begin = reinterpret_cast<std::uintptr_t>(sbrk(0));
  // Held until the heap has grown: what fits into its old end would not make it grow.
  std::unique_ptr<char[]> probes[16];
  for (auto& probe : probes) probe = std::make_unique_for_overwrite<char[]>(kProbe);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  if (end < first + kHugePage) return;
  // A refusal means small pages, as before.
  (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace troupe
