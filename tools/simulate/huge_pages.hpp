// Memory of a long simulation in huge pages.
//
// Why: a cluster of hundreds of GPUs has tens of thousands of live requests, whose memory is read
// in no order. With pages of 4 KiB most of these reads also miss the processor's table of pages,
// which in a virtual machine costs more than the read itself.
//
// It asks the kernel for huge pages in the part of the heap that the run will grow into. Where
// there are none, nothing changes. Linux and glibc; to be called once, before the run.
#pragma once

#include <cstddef>

namespace troupe {

/// `bytes`: how far the heap is prepared; address space only, until it is used.
void prefer_huge_pages(std::size_t bytes);

}  // namespace troupe
