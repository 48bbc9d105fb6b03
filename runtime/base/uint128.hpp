// A 128-bit product, which every compiler that we use has and no standard names.
#pragma once

namespace troupe {
__extension__ using Uint128 = unsigned __int128;
}
