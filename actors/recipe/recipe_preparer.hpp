// From the body of an inference request, of any protocol, to what a rank needs; requests that need
// none (prompt_tools.hpp) are answered here.
//
// Refusals have the protocol's own form and status. Pure: the same body and id give the same
// Prepared (a request without a seed gets one from its id).
//
// Threads: immutable; runs on the Compute pool.
#pragma once

#include <string>
#include <vector>

#include "actors/recipe/served_models.hpp"
#include "actors/request/request_core.hpp"

namespace troupe {

class RecipePreparer final : public RequestPreparer {
 public:
  /// Requires: at least one model; the first is the default. `threads`: on how many a long prompt
  /// is encoded.
  RecipePreparer(std::vector<ServedModel> models, std::string fingerprint, unsigned threads = 1);

  Result<Prepared> prepare(const HttpArrived& arrived, RequestId id) const override;
  Duration modelled_time(const HttpArrived& arrived) const override;

 private:
  Result<Prepared> prepare_generation(const HttpArrived& arrived, RequestId id) const;

  ServedModels models_;
  std::string fingerprint_;
};

}  // namespace troupe
