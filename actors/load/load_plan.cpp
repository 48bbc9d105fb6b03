#include "actors/load/load_plan.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

namespace {

Error invalid(std::string message) {
  return Error{Code::kInvalid, std::move(message)};
}

bool share(double value) {
  return value >= 0 && value <= 1;
}

Status check_arrivals(const LoadPlan& plan) {
  if (plan.request_rate < 0) return invalid("the request rate is above 0");
  if (plan.request_rate > 0 && !plan.phases.empty()) {
    return invalid("arrivals have one request rate or phases, not both");
  }
  if (!(plan.burstiness > 0)) return invalid("the burstiness is above 0; 1 is Poisson");
  if (!(plan.trace.speed > 0)) return invalid("the speed is above 0; 1 is as recorded");
  if (plan.trace.block_tokens == 0) return invalid("a hash id stands for at least one token");
  return ok_status();
}

Status check_sessions(const LoadPlan& plan) {
  const bool drawn = !plan.turns.is_always(1) || plan.prefix_groups > 0 || plan.image_share > 0;
  if (!plan.trace.file.empty() && drawn) {
    return invalid(
        "a trace says itself which sessions and prefixes there are; leave out turns, "
        "prefix groups and images");
  }
  if (plan.prefix_groups == 0 && !plan.prefix_len.is_always(0)) {
    return invalid("a prefix length needs a number of prefix groups");
  }
  if (plan.prefix_groups > 0 && plan.prefix_len.is_always(0)) {
    return invalid("prefix groups need a prefix length");
  }
  if (plan.prefix_skew < 0) return invalid("the prefix skew is not below 0");
  if (!share(plan.image_share)) return invalid("the share of requests with images is from 0 to 1");
  if (plan.images.first() > kImagesMost) {
    return invalid("a request has at most " + std::to_string(kImagesMost) + " images");
  }
  if (plan.image_share > 0 && plan.image_sizes.empty()) {
    return invalid("images need a size, as 1024x768");
  }
  return ok_status();
}

/// Pixels; 0: it is none.
std::uint32_t side_of(std::string_view text) {
  constexpr std::uint32_t kSideMost = 16'384;
  std::uint32_t side = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), side);
  const bool whole = problem == std::errc() && end == text.data() + text.size();
  return whole && side <= kSideMost ? side : 0;
}

}  // namespace

Result<std::vector<PixelSize>> parse_pixel_sizes(std::string_view text) {
  std::vector<PixelSize> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    const std::size_t x = std::min(one.find('x'), one.size());
    const PixelSize size{side_of(one.substr(0, x)),
                         side_of(one.substr(std::min(x + 1, one.size())))};
    if (size.width == 0 || size.height == 0) {
      return invalid(
          "image sizes: sizes as 1024x768,512x512, sides up to 16384, are expected, not " +
          std::string(text));
    }
    sizes.push_back(size);
    begin = end + 1;
  }
  return sizes;
}

RateCurve LoadPlan::curve() const {
  if (!phases.empty()) return RateCurve(phases);
  RatePhase steady;
  steady.from = steady.to = request_rate;
  return RateCurve({steady});
}

Status check_load(const LoadPlan& plan) {
  TROUPE_TRY(check_arrivals(plan));
  TROUPE_TRY(check_sessions(plan));
  if (plan.isl.is_always(0) || plan.osl.is_always(0)) {
    return invalid("prompts and answers have at least one token");
  }
  if (!share(plan.cancel_rate)) return invalid("the cancel rate is a share from 0 to 1");
  if (!share(plan.slow_readers)) return invalid("the share of slow readers is from 0 to 1");
  return ok_status();
}

}  // namespace troupe
