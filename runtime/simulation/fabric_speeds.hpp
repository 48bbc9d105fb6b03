// How fast a simulated network and storage are.
//
// Units: bytes a second, each way.
#pragma once

#include <cstdint>

#include "runtime/base/time.hpp"

namespace troupe {

struct FabricSpeeds {
  double nic = 50e9;                            ///< one 400G NIC a GPU (CALIB.md)
  double spine = 0;                             ///< all NICs together; 0: full bisection
  double storage_read = 10.0 * (1ull << 40);    ///< seed 000: peak 10 TiB/s
  double storage_write = 850.0 * (1ull << 30);  ///< seed 000: about 850 GiB/s
  double storage_ops = 95.9e6;                  ///< reads of blocks a second (CALIB.md)
  double storage_block = 112.0 * 1024;          ///< bytes of a block (CALIB.md)
  Duration access = microseconds(300);          ///< of a read, least; assumed
  Duration jitter = microseconds(200);          ///< mean of an exponential on top; assumed
};

/// What of a fabric a fault slows down; kNic: of one GPU, in and out.
enum class FabricPart : std::uint8_t { kNic, kSpine, kStorageRead, kStorageWrite };

}  // namespace troupe
