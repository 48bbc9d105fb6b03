#include "tools/simulate/pd_report.hpp"

#include <algorithm>

#include "runtime/simulation/formatted.hpp"

namespace troupe {

namespace {

constexpr double kGiga = 1e9;

void add_pool(ReportLines& lines, const std::string& name, const std::string& key,
              const GroupUse& use, double span) {
  const double all = use.members * span;
  const double busy = all > 0 ? use.busy / all : 0;
  const double tokens = all > 0 ? use.tokens / all : 0;
  lines.push_back({name + " utilisation", key + "_utilisation", busy, 3});
  lines.push_back({name + " waiting for the slowest", key + "_bubbles", use.bubbles(), 3});
  lines.push_back({name + " slowest over mean", key + "_imbalance", use.imbalance(), 3});
  lines.push_back({name + " tokens/s a GPU", key + "_tokens_per_s_per_gpu", tokens, 0});
  lines.push_back({name + " steps", key + "_steps", use.steps});
}

void add_encoders(ReportLines& lines, PdCluster& cluster, double span) {
  const GroupUse use = cluster.encoder_use();
  const double all = use.members * span;
  lines.push_back({"Encoder utilisation", "encoder_utilisation", all > 0 ? use.busy / all : 0, 3});
  lines.push_back({"Encoder patches/s a GPU", "encoder_patches_per_s_per_gpu",
                   all > 0 ? use.tokens / all : 0, 0});
  lines.push_back({"Images encoded", "images_encoded", cluster.images_encoded()});
  lines.push_back(
      {"Images given to another encoder", "images_encoded_again",
       static_cast<std::uint64_t>(cluster.notes().counted("troupe_images_encoded_again_total"))});
  const Histogram* wait = cluster.notes().observed("troupe_image_wait_seconds");
  if (wait == nullptr) return;
  lines.push_back({"Waiting for images mean (ms)", "image_wait_mean_ms", wait->mean() * 1e3, 1});
  lines.push_back(
      {"Waiting for images P99 (ms)", "image_wait_p99_ms", wait->percentile(99) * 1e3, 1});
}

void add_link(ReportLines& lines, const std::string& name, const std::string& key,
              const FluidLinks& links, LinkId link, double span) {
  const double share = span > 0 ? links.carried(link) / (links.bandwidth(link) * span) : 0;
  lines.push_back({name, "",
                   formatted("%.1f GB/s, %.1f %% of %.0f, at most %u at once",
                             span > 0 ? links.carried(link) / span / kGiga : 0, share * 100,
                             links.bandwidth(link) / kGiga, links.most_flows(link))});
  lines.push_back({"", key + "_use", share});
  lines.push_back({"", key + "_flows_most", std::uint64_t{links.most_flows(link)}});
}

void add_links(ReportLines& lines, PdCluster& cluster, double span) {
  const FabricCore& fabric = cluster.fabric();
  const FluidLinks& links = fabric.links();
  add_link(lines, "Spine", "spine", links, fabric.spine(), span);
  add_link(lines, "Storage reads", "storage_read", links, fabric.storage_read(), span);
  add_link(lines, "Storage writes", "storage_write", links, fabric.storage_write(), span);
  double busiest = 0;
  std::uint32_t most = 0;
  for (std::uint32_t i = 0; i < fabric.ports(); ++i) {
    for (const LinkId nic : {fabric.nic_in(PortId(i)), fabric.nic_out(PortId(i))}) {
      busiest = std::max(busiest, links.carried(nic) / links.bandwidth(nic));
      most = std::max(most, links.most_flows(nic));
    }
  }
  lines.push_back({"Fetches, pushes, writes", "",
                   formatted("%llu, %llu, %llu",
                             static_cast<unsigned long long>(fabric.moves(MoveKind::kFetch)),
                             static_cast<unsigned long long>(fabric.moves(MoveKind::kPush)),
                             static_cast<unsigned long long>(fabric.moves(MoveKind::kWrite)))});
  lines.push_back({"", "fetches", fabric.moves(MoveKind::kFetch)});
  lines.push_back({"", "pushes", fabric.moves(MoveKind::kPush)});
  lines.push_back({"", "writes", fabric.moves(MoveKind::kWrite)});
  lines.push_back({"Busiest NIC", "nic_use_most", span > 0 ? busiest / span : 0, 4});
  lines.push_back({"Transfers on a NIC at once, most", "nic_flows_most", std::uint64_t{most}});
}

/// First tokens by length, if the load has more than one class of prompts.
void add_lengths(ReportLines& lines, const TrafficReport& report) {
  const auto& classes = report.ttft_by_length;
  if (std::count_if(classes.begin(), classes.end(),
                    [](const Histogram& one) { return one.count() > 0; }) < 2) {
    return;
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].count() == 0) continue;
    const std::string name = std::string(" of ") + kLengthNames[i] + " (ms)";
    lines.push_back({"TTFT P50" + name, "ttft_p50_ms_length_" + std::to_string(i),
                     classes[i].percentile(50) * 1e3, 1});
    lines.push_back({"TTFT P99" + name, "ttft_p99_ms_length_" + std::to_string(i),
                     classes[i].percentile(99) * 1e3, 1});
  }
}

}  // namespace

std::string shape_text(const ClusterPlan& plan) {
  const EncoderPlan& pool = plan.encoders;
  const std::string encoders =
      pool.machines == 0 ? ""
                         : formatted(", %u encoder machine(s) of %u", pool.machines, pool.gpus);
  return formatted("%u prefill engine(s) of %u, %u decode instance(s) of %u%s: %u GPUs (%s)",
                   plan.prefill.engines, plan.prefill.ranks, plan.decode.instances,
                   plan.decode.ranks, encoders.c_str(), plan.gpus(), plan.hardware.name.c_str());
}

ReportLines pd_lines(PdCluster& cluster) {
  const ClusterPlan& plan = cluster.plan();
  const double span = cluster.used_seconds();
  ReportLines lines;
  lines.push_back({"Cluster", "cluster", shape_text(plan)});
  lines.push_back({"", "gpus", std::uint64_t{plan.gpus()}});
  lines.push_back({"Policies", "policies",
                   "prefill " + plan.prefill.policy + ", decode " + plan.decode.policy +
                       ", drafts " + plan.decode.drafts});
  const auto asked = static_cast<double>(cluster.tokens_asked());
  const auto hit = static_cast<double>(cluster.tokens_hit());
  lines.push_back({"Prompt tokens hit", "hit_share", asked > 0 ? hit / asked : 0, 4});
  lines.push_back({"Answers/s, middle half of the run", "sustained_requests_per_s",
                   cluster.answer_rate().middle(), 1});
  add_lengths(lines, cluster.traffic().report());
  add_pool(lines, "Prefill", "prefill", cluster.prefill_use(), span);
  add_pool(lines, "Decode", "decode", cluster.decode_use(), span);
  const GroupUse decode = cluster.decode_use();
  // busy counts each member's seconds, row_time those of all rows of a group.
  lines.push_back({"Decode rows a GPU, while it steps", "decode_rows_per_gpu",
                   decode.busy > 0 ? decode.row_time / decode.busy : 0, 1});
  if (plan.encoders.machines > 0) add_encoders(lines, cluster, span);
  add_links(lines, cluster, span);
  const PdFaults::Counts& faults = cluster.faults();
  lines.push_back({"Groups killed", "groups_killed", faults.groups_killed});
  if (faults.services_killed > 0) {
    lines.push_back({"Gateways, stream tables killed", "services_killed", faults.services_killed});
  }
  if (!plan.faults.empty()) {
    lines.push_back({"Freezes, partitions, slowdowns", "",
                     formatted("%llu, %llu, %llu", static_cast<unsigned long long>(faults.freezes),
                               static_cast<unsigned long long>(faults.partitions),
                               static_cast<unsigned long long>(faults.slowdowns))});
    lines.push_back({"", "freezes", faults.freezes});
    lines.push_back({"", "partitions", faults.partitions});
    lines.push_back({"", "slowdowns", faults.slowdowns});
    lines.push_back({"Nodes given up", "nodes_lost", faults.nodes_lost});
    lines.push_back({"Messages lost", "messages_lost", faults.messages_dropped});
  }
  lines.push_back(
      {"Requests routed anew", "requests_rerouted",
       static_cast<std::uint64_t>(cluster.notes().counted("troupe_requests_rerouted_total"))});
  lines.push_back({"Step times", "timing", plan.timing});
  lines.push_back({"Constants", "constants", plan.describe()});
  if (const TimingTable* table = cluster.table()) {
    lines.push_back({"Cost", "costs", cluster.cost().describe()});
    const auto warnings = table_warnings(plan, *table);
    if (!warnings.empty()) lines.push_back({"TABLE", "timing_warnings", warnings});
  }
  const std::string beyond = cluster.cost().extrapolation();
  if (!beyond.empty()) lines.push_back({"EXTRAPOLATION", "extrapolation", beyond});
  if (plan.decode.kv_gb > plan.hardware.hbm_gb) {
    lines.push_back({"MEMORY", "memory_warning",
                     formatted("%g GB of KV do not fit into the %g GB of a %s", plan.decode.kv_gb,
                               plan.hardware.hbm_gb, plan.hardware.name.c_str())});
  }
  if (!plan.hardware.fitted && cluster.table() == nullptr) {
    lines.push_back(
        {"EXTRAPOLATION", "hardware_extrapolation",
         "the constants of steps were fitted on another GPU than " + plan.hardware.name});
  }
  return lines;
}

}  // namespace troupe
