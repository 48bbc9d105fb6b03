// Memory of one thread in pages of 2 MB.
//
// Why: a simulated cluster reads all over what its live requests hold. With pages of 4 KB each of
// these reads first misses the table of addresses: a random read of 64 MB took 285 ns of CPU time
// with small pages and 203 ns with huge ones on the machine of docs/status.md, and a run of
// config/sim-512.yaml 15 to 25 % longer.
//
// Threads: the calling one, for what it takes from now on; any thread may free it.
#pragma once

namespace troupe {

/// False: there is no jemalloc in the program, or it refused; memory is then taken as ever. The
/// system may still give small pages. What is freed is kept for the thread.
bool use_huge_pages();

}  // namespace troupe
