// Flags that people know from other servers and load generators, and what they are here.
//
// Why: whoever comes from vLLM, SGLang, their bench tools or AIPerf types the names of those. The
// nearest name by spelling would be nonsense; the row says the name here, or why there is none.
// Only names that differ from ours have a row. Pure.
#pragma once

#include <string_view>

namespace troupe::cli {

struct ForeignFlag {
  std::string_view name;     ///< theirs, "--random-input-len"
  std::string_view ours;     ///< "--isl"; empty: there is none
  std::string_view because;  ///< why there is none
};

/// Null if no row has that name.
const ForeignFlag* find_foreign_flag(std::string_view name);

}  // namespace troupe::cli
