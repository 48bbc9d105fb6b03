#include "tools/simulate/engine_recorder.hpp"

namespace troupe {

EngineRecorder::EngineRecorder(RequestTimelines::Limits limits)
    : RunRecorder(limits, ServedBy::kEngines) {
  series_.add_chart({"Requests", "requests", {"under way", "at the engines", "decoding"}});
  series_.add_chart({"Time to first token", "ms", {"p50", "p99"}});
  series_.add_chart({"Utilisation", "share of the engines' time", {"engines"}});
  series_.add_chart({"Throughput", "tokens/s an engine", {"computed and generated"}});
  series_.add_chart({"KV of rows", "share of what engines hold", {"in use"}});
  series_.add_chart({"Prompt tokens hit", "share", {"hit"}});
}

void EngineRecorder::watch(EngineCluster::Options& options) {
  options.observer = [this](Time now, const Envelope& envelope) {
    timelines_.observe(now, envelope);
  };
  options.sample_every = kSampleEvery;
  options.on_sample = [this](EngineCluster& cluster) { sample(cluster); };
}

void EngineRecorder::sample(EngineCluster& cluster) {
  const Time now = cluster.world().now();
  const GroupUse use = cluster.use();
  const EngineCluster::Held held = cluster.held();
  const double time = (now - at_).seconds() * cluster.plan().engines;
  const double kv = static_cast<double>(cluster.plan().limits.kv_tokens) * cluster.plan().engines;
  series_.add(now.seconds(), {{static_cast<double>(cluster.traffic().live()),
                               static_cast<double>(held.jobs), static_cast<double>(held.rows)},
                              take_first_tokens(),
                              {busy(use, use_, time)},
                              {share(growth(use.tokens, use_.tokens), time)},
                              {share(held.kv_tokens, kv)},
                              {share(growth(held.tokens_hit, held_.tokens_hit),
                                     growth(held.tokens_asked, held_.tokens_asked))}});
  at_ = now;
  use_ = use;
  held_ = held;
}

}  // namespace troupe
