// Sampling parameters of all three protocols: ranges, what thinking overrides, and what is not done
// (recipe SPEC 3.2).
//
// DeepSeek's models: thinking forces temperature 1; V4 then forces top_p 1 (0.95 if it has tools),
// V4.1 raises it to 0.95, and in compat mode ignores it without thinking. The default mode leaves
// ordinary models (kChatml) alone, and honours top_p of V4.1 without thinking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/request/issues.hpp"
#include "runtime/recipe/request/json_shape.hpp"

namespace troupe::recipe {

using StopField = Field<Either<std::string_view, List<std::string_view>>>;

/// Each method reads one parameter into the result; false after failing.
class SamplingReader {
 public:
  /// Requires: `request` has its version and conversation.
  SamplingReader(const ConversionOptions& options, ConversationRequest& request, Issues& issues)
      : options_(options), request_(request), issues_(issues), result_(request.sampling) {}

  bool temperature(const Field<Number>& field);
  bool top_p(const Field<Number>& field);
  /// `clamps`: above the bound it is lowered instead of refused (Messages).
  bool tokens_max(const Field<Number>& field, std::string_view name, bool clamps = false);
  bool seed(const Field<Number>& field);
  /// Checked, and refused in default mode unless it says nothing.
  bool penalty(const Field<Number>& field, std::string_view name);
  bool top_logprobs(const Field<Number>& field);

 private:
  bool compat() const { return options_.compat == Compat::kDeepseek; }
  bool thinking() const { return request_.conversation.thinking; }
  bool is_deepseek() const { return request_.version != ModelVersion::kChatml; }
  bool real(const Field<Number>& field, std::string_view name, float min, float max,
            std::string_view range, std::optional<float>& value);

  const ConversionOptions& options_;
  const ConversationRequest& request_;
  Issues& issues_;
  Sampling& result_;
};

/// Stop strings: a text or a list, at most 16, none empty.
bool read_stops(const StopField& field, std::string_view param, std::vector<std::string>& stops,
                Issues& issues);
bool read_stops(const List<std::string_view>& list, std::string_view param,
                std::vector<std::string>& stops, Issues& issues);

}  // namespace troupe::recipe
