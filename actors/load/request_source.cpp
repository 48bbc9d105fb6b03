#include "actors/load/request_source.hpp"

namespace troupe {

PromptPieces with_answer(const PlannedRequest& request) {
  PromptPieces pieces = request.prompt;
  if (request.answer == 0) return pieces;
  if (!pieces.empty() && pieces.back().content == request.answer) {
    pieces.back().tokens += request.output_tokens;
  } else {
    pieces.push_back({request.answer, request.output_tokens, PieceRole::kAssistant});
  }
  return pieces;
}

}  // namespace troupe
