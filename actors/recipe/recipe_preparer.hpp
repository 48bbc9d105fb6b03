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

#include "actors/recipe/recipe_answer.hpp"
#include "actors/recipe/served_models.hpp"
#include "actors/request/request_core.hpp"

namespace troupe {

class RecipePreparer final : public RequestPreparer {
 public:
  /// Requires: at least one model; the first is the default. `threads`: on how many a long prompt
  /// is encoded. `secret`: hides the ids of responses; empty: this node keeps none. Of
  /// `conversion`, names of models and packs come from `models`. `body_bytes_max`: also of a body
  /// together with the conversation that it goes on with.
  RecipePreparer(std::vector<ServedModel> models, std::string fingerprint, unsigned threads = 1,
                 std::string secret = {}, recipe::ConversionOptions conversion = {},
                 std::size_t body_bytes_max = std::size_t{32} << 20);

  Result<Prepared> prepare(const HttpArrived& arrived, RequestId id,
                           const ResponseChain* earlier) const override;
  Duration modelled_time(const HttpArrived& arrived) const override;

 private:
  Result<Prepared> prepare_generation(const HttpArrived& arrived, RequestId id,
                                      const ResponseChain* earlier) const;
  Result<Prepared> prepare_completions(const HttpArrived& arrived, RequestId id) const;
  /// What the recipe takes and this node or model does not.
  std::optional<recipe::RequestError> refused_here(const recipe::ConversationRequest& request,
                                                   const ServedModel& model) const;
  /// All but the prompt's length and the number of choices. Takes what it needs of the request.
  RecipeAnswerOptions answer_options(const HttpArrived& arrived, RequestId id,
                                     recipe::ConversationRequest& request,
                                     const ServedModel& model) const;
  /// Lets the answer of a Responses request be kept.
  void keep(const HttpArrived& arrived, RequestId id, RecipeAnswerOptions& answer) const;

  ServedModels models_;
  std::string fingerprint_;
  std::string secret_;
  std::size_t body_bytes_max_;
};

}  // namespace troupe
