#include "runtime/observe/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace troupe {

namespace {

using Buckets = prometheus::Histogram::BucketBoundaries;

enum class Kind { kCounter, kGauge, kHistogram };

// Buckets: vLLM's (DEFAULTS.md section 3); those a token start at 1 ms, since 10 ms is too coarse
// above 200 tokens a second.
const Buckets kFirstToken{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
                          1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560};
const Buckets kPerToken{0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3,
                        0.4,   0.5,   0.75,  1,     2.5,  5,     7.5,  10,    20,  40,   80};
const Buckets kPhase{0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
                     30,  40,  50,  60, 120, 240, 480, 960, 1920, 7680};

Kind kind_of(effect::NoteKind kind) {
  switch (kind) {
    case effect::NoteKind::kGauge:
      return Kind::kGauge;
    case effect::NoteKind::kObserve:
      return Kind::kHistogram;
    case effect::NoteKind::kCount:
    case effect::NoteKind::kInfo:
    case effect::NoteKind::kWarning:
      break;
  }
  return Kind::kCounter;
}

struct Entry {
  Kind kind;
  const char* help;
  const char* label = nullptr;  ///< name of the label that a note's text fills
  const Buckets* buckets = nullptr;
  bool by_rank = true;  ///< a gauge that each rank notes for itself
};

const std::map<std::string, Entry>& table() {
  static const std::map<std::string, Entry> entries{
      {"vllm:num_requests_running", {Kind::kGauge, "Requests in the batch."}},
      {"vllm:num_requests_waiting", {Kind::kGauge, "Requests in the rank's queue."}},
      {"vllm:kv_cache_usage_perc", {Kind::kGauge, "KV blocks in use, 0 to 1."}},
      {"vllm:num_preemptions_total", {Kind::kCounter, "Rows that gave their KV blocks back."}},
      {"vllm:prompt_tokens_total", {Kind::kCounter, "Prompt tokens of ended requests."}},
      {"vllm:generation_tokens_total", {Kind::kCounter, "Tokens generated."}},
      {"vllm:request_success_total",
       {Kind::kCounter, "Requests that ended well.", "finished_reason"}},
      {"vllm:time_to_first_token_seconds",
       {Kind::kHistogram, "Arrival to first token.", nullptr, &kFirstToken}},
      {"vllm:inter_token_latency_seconds",
       {Kind::kHistogram, "Between tokens of a request.", nullptr, &kPerToken}},
      {"vllm:request_time_per_output_token_seconds",
       {Kind::kHistogram, "Mean time a token after the first.", nullptr, &kPerToken}},
      {"vllm:e2e_request_latency_seconds", {Kind::kHistogram, "Arrival to end.", nullptr, &kPhase}},
      {"vllm:request_queue_time_seconds",
       {Kind::kHistogram, "In the rank's queue.", nullptr, &kPhase}},
      {"vllm:request_prefill_time_seconds",
       {Kind::kHistogram, "Admission to first token.", nullptr, &kPhase}},
      {"vllm:request_decode_time_seconds",
       {Kind::kHistogram, "First token to end.", nullptr, &kPhase}},
      {"troupe_requests_live", {Kind::kGauge, "Request actors alive.", nullptr, nullptr, false}},
      {"troupe_prefix_reports_missing",
       {Kind::kGauge, "Engines that announced reports of their cache and send none.", nullptr,
        nullptr, false}},
      {"troupe_requests_refused_total", {Kind::kCounter, "Refused at the gateway.", "reason"}},
      {"troupe_requests_failed_total", {Kind::kCounter, "Ended with an error.", "reason"}},
      {"troupe_tenant_requests_total", {Kind::kCounter, "Admitted, by API key.", "tenant"}},
      {"troupe_tenant_refused_total",
       {Kind::kCounter, "Over the limits of their API key.", "tenant"}},
      {"troupe_tenant_prompt_tokens_total",
       {Kind::kCounter, "Prompt tokens, by API key.", "tenant"}},
      {"troupe_tenant_generation_tokens_total",
       {Kind::kCounter, "Tokens generated, by API key.", "tenant"}},
      {"troupe_requests_deadline_total", {Kind::kCounter, "Ended by their deadline."}},
      {"troupe_requests_rerouted_total", {Kind::kCounter, "Begun anew: their group was lost."}},
      {"troupe_images_encoded_total", {Kind::kCounter, "Images turned into embeddings."}},
      {"troupe_images_encoded_again_total",
       {Kind::kCounter, "Images given to another encoder: theirs was lost."}},
      {"troupe_image_wait_seconds",
       {Kind::kHistogram, "From a prefill machine to its images' embeddings.", nullptr, &kPhase}},
      {"troupe_groups_lost_total",
       {Kind::kCounter, "Engines, instances and encoder machines that were lost."}},
      {"troupe_requests_client_gone_total", {Kind::kCounter, "Their client left."}},
      {"troupe_rank_rejected_total", {Kind::kCounter, "Rejected by a rank."}},
      {"troupe_responses_stored",
       {Kind::kGauge, "Responses kept for later requests.", nullptr, nullptr, false}},
      {"troupe_responses_stored_bytes", {Kind::kGauge, "Their bytes.", nullptr, nullptr, false}},
      {"troupe_responses_not_kept_total", {Kind::kCounter, "Responses too large to be kept."}},
      {"troupe_responses_unwritten_total",
       {Kind::kCounter, "Changes that wait for the file to be written anew."}},
      {"troupe_rows_parked_total", {Kind::kCounter, "Parked for a slow client."}},
      {"troupe_rows_cut_slow_client_total", {Kind::kCounter, "Cut: their client read nothing."}},
      {"troupe_kv_blocks_orphaned", {Kind::kGauge, "KV blocks held 1 s after their owner's end."}},
      {"troupe_actor_restarts_total", {Kind::kCounter, "Actors started again after a crash."}},
      {"troupe_actors", {Kind::kGauge, "Actors alive."}},
      {"troupe_dead_letters", {Kind::kGauge, "Messages that found nobody."}},
      {"troupe_actor_mailbox_max", {Kind::kGauge, "Longest mailbox."}},
      {"troupe_access_log_dropped_total", {Kind::kCounter, "Lines that found no room."}},
      {"troupe_http_connections", {Kind::kGauge, "Open connections."}},
      {"troupe_http_body_bytes", {Kind::kGauge, "Held for bodies that somebody keeps."}},
      {"troupe_rank_credits_lost_total", {Kind::kCounter, "Windows of TokenBatches given up."}},
      {"troupe_device_busy_seconds_total", {Kind::kCounter, "Time that devices ran steps."}},
      {"troupe_device_bubble_ratio",
       {Kind::kGauge, "Share of the time with work that the device idled."}},
  };
  return entries;
}

/// The series of one name. Notes come from every thread many times a request: a series is found
/// without a lock if it has no label of its own, and prometheus-cpp is asked for each only once
/// (its Add makes a new metric before it looks for the old one).
template <class Metric>
class Series {
 public:
  using Labels = std::map<std::string, std::string>;

  void open(prometheus::Family<Metric>& family, std::string model) {
    family_ = &family;
    model_ = std::move(model);
  }
  template <class... Args>
  Metric& plain(const Args&... args) {
    Metric* known = plain_.load(std::memory_order_acquire);
    if (known == nullptr) {
      known = &family_->Add({{"model_name", model_}}, args...);
      plain_.store(known, std::memory_order_release);
    }
    return *known;
  }
  template <class... Args>
  Metric& labelled(const char* label, const std::string& value, const Args&... args) {
    const std::lock_guard lock(mutex_);
    Metric*& known = labelled_[value];
    if (known == nullptr) {
      known = &family_->Add({{"model_name", model_}, {label, value}}, args...);
    }
    return *known;
  }

 private:
  prometheus::Family<Metric>* family_ = nullptr;
  std::string model_;
  std::atomic<Metric*> plain_{nullptr};
  std::mutex mutex_;
  std::map<std::string, Metric*> labelled_;
};

struct Slot {
  const Entry* entry = nullptr;
  Series<prometheus::Counter> counter;
  Series<prometheus::Gauge> gauge;
  Series<prometheus::Histogram> histogram;
};

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  std::unordered_map<std::string_view, Slot> slots;  ///< never changes; keys are the table's
  std::mutex mutex;                                  ///< guards what follows
  std::map<std::uint64_t, std::string> engines;      ///< label value of a noting actor

  explicit Impl(const std::string& model) {
    for (const auto& [name, entry] : table()) {
      Slot& slot = slots[name];
      slot.entry = &entry;
      const std::string help = entry.help;
      switch (entry.kind) {
        case Kind::kCounter:
          slot.counter.open(prometheus::BuildCounter().Name(name).Help(help).Register(registry),
                            model);
          break;
        case Kind::kGauge:
          slot.gauge.open(prometheus::BuildGauge().Name(name).Help(help).Register(registry), model);
          break;
        case Kind::kHistogram:
          slot.histogram.open(prometheus::BuildHistogram().Name(name).Help(help).Register(registry),
                              model);
          break;
      }
    }
  }

  Slot& slot(const char* name, Kind kind) {
    const auto found = slots.find(name);
    TROUPE_ASSERT(found != slots.end() && found->second.entry->kind == kind,
                  "a metric that the table does not know, or knows as another kind");
    return found->second;
  }

  std::string engine(std::uint64_t from) {
    const std::lock_guard lock(mutex);
    auto at = engines.find(from);
    if (at == engines.end()) at = engines.emplace(from, std::to_string(engines.size())).first;
    return at->second;
  }

  void count(Slot& slot, double value, const std::string& text) {
    const char* label = slot.entry->label;
    auto& series = slot.counter;
    (label == nullptr ? series.plain() : series.labelled(label, text)).Increment(value);
  }
  /// Gauges of several ranks must not overwrite each other.
  void set(Slot& slot, std::uint64_t from, double value) {
    const bool by_rank = slot.entry->by_rank && from != 0;
    auto& series = slot.gauge;
    (by_rank ? series.labelled("engine", engine(from)) : series.plain()).Set(value);
  }
};

Metrics::Metrics(std::string model_name) : impl_(std::make_unique<Impl>(model_name)) {}
Metrics::~Metrics() = default;

void Metrics::note(const ActorRef& from, const effect::Note& note) {
  const Kind kind = kind_of(note.kind);
  Slot& slot = impl_->slot(note.name, kind);
  switch (kind) {
    case Kind::kCounter:
      return impl_->count(slot, note.value, note.text());
    case Kind::kGauge:
      return impl_->set(slot, from.local, note.value);
    case Kind::kHistogram:
      return slot.histogram.plain(*slot.entry->buckets).Observe(note.value);
  }
}

void Metrics::set(const char* name, double value) {
  impl_->set(impl_->slot(name, Kind::kGauge), 0, value);
}

std::string Metrics::render() {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace troupe
