#include "tools/node/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <string>

namespace troupe {

namespace {
/// Models, logs, links to peers, the admin port: what a node opens beside its clients.
constexpr rlim_t kOwnFiles = 256;
}  // namespace

Status allow_connections(std::size_t connections) {
  const rlim_t wanted = connections + kOwnFiles;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Error{Code::kInternal, "cannot read the limit of open files"};
  }
  if (limit.rlim_cur >= wanted) return ok_status();
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  const bool raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
  if (raised && limit.rlim_cur == wanted) return ok_status();
  return Error{Code::kInvalid, std::to_string(connections) +
                                   " connections (--max-connections) need " +
                                   std::to_string(wanted) + " open files, and the system allows " +
                                   std::to_string(limit.rlim_max) +
                                   "; raise its hard limit (ulimit -Hn) or lower the flag"};
}

}  // namespace troupe
