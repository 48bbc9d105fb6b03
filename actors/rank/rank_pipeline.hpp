// How many steps are in flight, and what happens between a step's two launches.
#pragma once

#include "actors/rank/rank_core.hpp"

namespace troupe {

template <class Between>
void RankCore::fill_pipeline(Context& context, Effects& out, Between between) {
  const std::size_t depth = args_.limits.async_steps ? 2 : 1;
  // With one step in flight nothing runs on the device meanwhile: its rows end first.
  bool post_processed = !args_.limits.async_steps;
  if (post_processed) between();
  while (steps_.size() < depth) {
    const auto plan = schedule(context, out);
    if (plan) launch_forward(plan, context, out);
    if (!post_processed) {
      post_processed = true;
      between();
      if (!plan) continue;  // it may have freed what the next step needs
    }
    if (!plan) break;
    launch_sample(plan, context, out);
  }
  if (!post_processed) between();
}

}  // namespace troupe
