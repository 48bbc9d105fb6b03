#include "tools/simulate/pd_recorder.hpp"

#include <cmath>

namespace troupe {

PdRecorder::PdRecorder(RequestTimelines::Limits limits, bool encoders)
    : RunRecorder(limits, ServedBy::kPools), encoders_(encoders) {
  series_.add_chart(
      {"Requests",
       "requests",
       {"under way", "at the prefill balancer", "waiting for a decode GPU", "decoding"}});
  series_.add_chart({"Time to first token", "ms", {"p50", "p99"}});
  series_.add_chart({"Utilisation",
                     "share of the GPUs' time",
                     {"prefill", "decode", "prefill, waiting for the slowest",
                      "decode, waiting for the slowest"}});
  series_.add_chart({"Throughput", "tokens/s a GPU", {"prefill (computed)", "decode"}});
  series_.add_chart({"Imbalance", "slowest over mean of a step", {"prefill", "decode"}, true});
  series_.add_chart({"Prompt tokens hit", "share", {"hit"}});
  series_.add_chart(
      {"Links", "share of the bandwidth", {"spine", "storage reads", "storage writes"}});
  if (!encoders_) return;
  series_.add_chart({"Images", "images", {"waiting for an encoder", "at an encoder"}});
  series_.add_chart({"Encoders", "share of the GPUs' time", {"utilisation"}});
}

void PdRecorder::watch(PdCluster::Options& options) {
  options.observer = [this](Time now, const Envelope& envelope) {
    timelines_.observe(now, envelope);
  };
  options.sample_every = kSampleEvery;
  options.on_sample = [this](PdCluster& cluster) { sample(cluster); };
}

PdRecorder::Totals PdRecorder::totals(PdCluster& cluster) {
  const FabricCore& fabric = cluster.fabric();
  const FluidLinks& links = fabric.links();
  return {cluster.world().now(),
          cluster.prefill_use(),
          cluster.decode_use(),
          cluster.encoder_use(),
          cluster.tokens_asked(),
          cluster.tokens_hit(),
          links.carried(fabric.spine()),
          links.carried(fabric.storage_read()),
          links.carried(fabric.storage_write())};
}

void PdRecorder::add_image_values(PdCluster& cluster, const Totals& now, double span,
                                  std::vector<std::vector<double>>& values) const {
  const VisionBalancerCore* balancer = cluster.vision_balancer();
  const EncoderPlan& pool = cluster.plan().encoders;
  if (balancer == nullptr) {
    values.push_back({std::nan(""), std::nan("")});
  } else {
    const auto waiting = static_cast<double>(balancer->waiting());
    values.push_back({waiting, static_cast<double>(balancer->images()) - waiting});
  }
  values.push_back(
      {share(growth(now.encoders.busy, before_.encoders.busy), span * pool.machines * pool.gpus)});
}

void PdRecorder::sample(PdCluster& cluster) {
  const Totals now = totals(cluster);
  const double span = (now.at - before_.at).seconds();
  const ClusterPlan& plan = cluster.plan();
  const double prefill_time = span * plan.prefill.engines * plan.prefill.ranks;
  const double decode_time = span * plan.decode.instances * plan.decode.ranks;
  auto imbalance = [](const GroupUse& a, const GroupUse& b) {
    return share(growth(a.ratio, b.ratio),
                 growth(static_cast<double>(a.steps), static_cast<double>(b.steps)));
  };
  const FabricCore& fabric = cluster.fabric();
  auto link = [&](LinkId id, double carried, double earlier) {
    return share(growth(carried, earlier), span * fabric.links().bandwidth(id));
  };
  const DecodePlacer& placer = cluster.decode_balancer().placer();
  const auto waiting = static_cast<double>(placer.waiting());
  std::vector<std::vector<double>> values = {
      {static_cast<double>(cluster.traffic().live()),
       static_cast<double>(cluster.prefill_balancer().pool().jobs()), waiting,
       static_cast<double>(placer.tickets()) - waiting},
      take_first_tokens(),
      {busy(now.prefill, before_.prefill, prefill_time),
       busy(now.decode, before_.decode, decode_time),
       waited(now.prefill, before_.prefill, prefill_time),
       waited(now.decode, before_.decode, decode_time)},
      {share(growth(now.prefill.tokens, before_.prefill.tokens), prefill_time),
       share(growth(now.decode.tokens, before_.decode.tokens), decode_time)},
      {imbalance(now.prefill, before_.prefill), imbalance(now.decode, before_.decode)},
      {share(static_cast<double>(now.hit - before_.hit),
             static_cast<double>(now.asked - before_.asked))},
      {link(fabric.spine(), now.spine, before_.spine),
       link(fabric.storage_read(), now.reads, before_.reads),
       link(fabric.storage_write(), now.writes, before_.writes)}};
  if (encoders_) add_image_values(cluster, now, span, values);
  series_.add(now.at.seconds(), values);
  before_ = now;
}

}  // namespace troupe
