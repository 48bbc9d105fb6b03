#include "tools/node/serving_node.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "actors/gateway/openapi.hpp"
#include "actors/node/wire_messages.hpp"
#include "runtime/base/monotonic.hpp"
#include "runtime/cluster/address.hpp"
#include "runtime/cluster/identity.hpp"
#include "runtime/observe/log.hpp"
#include "tools/node/open_files.hpp"

namespace troupe {

namespace {

/// After a drain: time for what is left to end, and for the last bytes to leave.
constexpr Duration kForce = seconds(5);
constexpr Duration kHttpClose = seconds(2);
/// Of one stripe's lines that wait, where they carry texts.
constexpr std::size_t kAccessTextMax = 16u << 20;

bool has_role(const config::NodeConfig& config, std::string_view role) {
  const auto& roles = config.node.roles;
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

int io_threads(const config::GatewaySection& gateway) {
  if (gateway.io_threads > 0) return static_cast<int>(gateway.io_threads);
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency() / 2, 1u, 8u));
}

http::Limits http_limits(const config::NodeConfig& config) {
  http::Limits limits;
  limits.header_bytes_max = config.gateway.max_header_bytes.value;
  limits.body_bytes_max = config.gateway.max_body_bytes.value;
  limits.bodies_bytes_max = config.gateway.max_open_body_bytes.value;
  limits.connections_max = static_cast<std::size_t>(config.gateway.max_connections);
  limits.header_timeout = config.gateway.header_timeout;
  limits.body_timeout = config.gateway.body_timeout;
  limits.write_timeout = config.gateway.write_timeout;
  limits.idle_timeout = config.gateway.keepalive_timeout;
  // The stream table parks a row above its soft bound; this cut is the backstop.
  limits.outstanding_bytes_max = 4 * config.gateway.stream_buffer_bytes.value;
  return limits;
}

std::uint64_t draw_seed() {
  std::random_device random;
  return (static_cast<std::uint64_t>(random()) << 32 | random()) | 1;
}

Result<http::ServerOptions> http_options(const config::NodeConfig& config) {
  http::ServerOptions options(http_limits(config), io_threads(config.gateway));
  options.cors.origins = config.gateway.cors_origins;
  options.trace_seed = draw_seed();
  if (config.gateway.tls_certificate.empty()) return options;
  TROUPE_TRY_ASSIGN(options.tls,
                    http::TlsContext::make(config.gateway.tls_certificate, config.gateway.tls_key));
  return options;
}

/// What hides the ids of responses; a new one each life of the process.
std::string draw_secret() {
  std::random_device random;
  std::string secret;
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t word = random();
    secret.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return secret;
}

/// Two heartbeats: what a healthy peer is never silent for.
constexpr Duration kSilenceShown = milliseconds(500);

const char* state_name(PeerState state) {
  switch (state) {
    case PeerState::kHelloSent:
      return "joining";
    case PeerState::kOffered:
      return "being asked";
    case PeerState::kUp:
      return "up";
    case PeerState::kLeaving:
      return "leaving";
  }
  return "unknown";
}

AdminPeer describe_peer(const NodeCard& card, std::string address, std::string state) {
  std::string roles;
  for (const auto& role : card.roles) roles += (roles.empty() ? "" : ",") + role;
  return {card.root, std::move(address), std::move(state), std::move(roles), card.model};
}

std::vector<AdminPeer> peers_of(const ClusterLink& link) {
  std::vector<AdminPeer> peers;
  for (const auto& peer : link.peers()) {
    std::string state = state_name(peer.state);
    if (peer.silent > kSilenceShown) {
      state += ", silent for " + std::to_string(peer.silent.value / 1'000'000) + " ms";
    }
    peers.push_back(
        describe_peer(peer.card, peer.joined_by_us ? "joined by us" : "joined us", state));
  }
  const Time now = monotonic_now();
  for (const auto& peer : link.lost_peers()) {
    const auto ago = (now - peer.at).value / 1'000'000'000;
    peers.push_back(describe_peer(peer.card, "-", "lost " + std::to_string(ago) + " s ago"));
  }
  return peers;
}

recipe::ConversionOptions conversion_of(const config::RecipeSection& recipe) {
  recipe::ConversionOptions conversion;
  const bool deepseek = recipe.compat == config::RecipeCompat::kDeepseek;
  conversion.compat = deepseek ? recipe::Compat::kDeepseek : recipe::Compat::kDefault;
  conversion.default_thinking = recipe.default_thinking;
  conversion.reject_tokens_over_room = recipe.max_tokens_over_room == config::OverRoom::kReject;
  return conversion;
}

}  // namespace

/// Metrics to the registry, lines to the log.
class ServingNode::Notes final : public NoteSink {
 public:
  explicit Notes(Metrics& metrics) : metrics_(metrics) {}
  void note(Time, const ActorRef& from, const effect::Note& note) override {
    switch (note.kind) {
      case effect::NoteKind::kInfo:
        return logging::info(note.name, note.text());
      case effect::NoteKind::kWarning:
        return logging::warn(note.name, note.text());
      case effect::NoteKind::kCount:
      case effect::NoteKind::kGauge:
      case effect::NoteKind::kObserve:
        return metrics_.note(from, note);
    }
  }

 private:
  Metrics& metrics_;
};

ServingNode::ServingNode(const config::NodeConfig& config) : config_(config) {}

Result<std::unique_ptr<ServingNode>> ServingNode::start(const config::NodeConfig& config) {
  std::unique_ptr<ServingNode> node(new ServingNode(config));
  TROUPE_TRY(node->build());
  return node;
}

ServingNode::~ServingNode() {
  TROUPE_ASSERT(stop(Duration()), "a node that hangs is left behind, not destroyed");
}

Status ServingNode::build() {
  with_gateway_ = has_role(config_, "gateway");
  TROUPE_TRY(take_ports());
  TROUPE_TRY_ASSIGN(engines_, build_engines(config_, has_role(config_, "rank")));
  metrics_ = std::make_unique<Metrics>(engines_.models.front().name);
  notes_ = std::make_unique<Notes>(*metrics_);
  TROUPE_TRY(make_link());
  SystemOptions options;
  options.node = node_;
  options.incarnation = incarnation_;
  if (link_) options.caf = link_->setup();
  options.seed = std::random_device{}();
  // Two at least: one job may wait for a disk or read a long prompt.
  options.compute_threads = std::max(2u, std::thread::hardware_concurrency());
  options.notes = notes_.get();
  for (const auto& device : engines_.devices) options.devices.push_back(device.get());
  system_ = std::make_unique<ActorSystem>(std::move(options));
  if (with_gateway_) TROUPE_TRY(open_http());
  root_ = system_->spawn_root<NodeCore>(NodeCore::kName, root_args());
  if (link_) TROUPE_TRY(link_->start(*system_, root_));
  if (link_ && link_->port() != 0) {
    logging::info("link", "nodes may join at port " + std::to_string(link_->port()));
  }
  return open_admin();
}

Status ServingNode::take_ports() {
  if (with_gateway_) {
    TROUPE_TRY_ASSIGN(http::ServerOptions options, http_options(config_));
    TROUPE_TRY_ASSIGN(server_, http::Server::bind(config_.node.host,
                                                  static_cast<std::uint16_t>(config_.node.port),
                                                  std::move(options)));
  }
  if (config_.node.admin_port == 0) return ok_status();
  TROUPE_TRY_ASSIGN(admin_port_,
                    AdminServer::bind(static_cast<std::uint16_t>(config_.node.admin_port)));
  return ok_status();
}

Status ServingNode::make_link() {
  node_ = draw_node_id();
  incarnation_ = draw_incarnation();
  if (config_.node.join.empty() && config_.node.cluster_listen.empty()) return ok_status();
  ClusterOptions options;
  options.card.version = TROUPE_VERSION;
  options.card.node = node_;
  options.card.incarnation = incarnation_;
  options.card.roles = config_.node.roles;
  options.card.model = engines_.models.front().name;
  if (!engines_.fingerprint.empty()) options.card.model += " " + engines_.fingerprint;
  options.card.kv_layout = engines_.kv_layout;
  for (const auto& rank : engines_.ranks) {
    options.card.capacity += rank.args.limits.max_num_seqs + rank.args.limits.queue_max;
  }
  options.registry = wire_messages();
  options.heartbeat = config_.node.heartbeat_interval;
  if (!config_.node.join.empty()) {
    TROUPE_TRY_ASSIGN(options.join, parse_cluster_address("node.join", config_.node.join));
  }
  if (!config_.node.cluster_listen.empty()) {
    TROUPE_TRY_ASSIGN(options.listen,
                      parse_cluster_address("node.cluster_listen", config_.node.cluster_listen));
  }
  options.callbacks.on_peer = [this](const ActorRef& peer, bool joined) {
    peer_changed(peer, joined);
  };
  options.callbacks.log = [](bool warning, const std::string& text) {
    if (warning) {
      logging::warn("link", text);
    } else {
      logging::info("link", text);
    }
  };
  link_ = std::make_unique<ClusterLink>(std::move(options));
  return ok_status();
}

void ServingNode::peer_changed(const ActorRef& peer, bool joined) {
  system_->send(ActorRef{}, root_,
                joined ? make_message<PeerJoined>(peer) : make_message<PeerLost>(peer));
}

Status ServingNode::open_admin() {
  if (!admin_port_) return ok_status();
  AdminOptions options;
  options.token = config_.node.admin_token;
  options.about = engines_.about;
  for (const auto& role : config_.node.roles) {
    options.roles += (options.roles.empty() ? "" : ",") + role;
  }
  if (link_) {
    options.peers = [this] { return peers_of(*link_); };
  }
  options.drain = [this] {
    drain_asked_ = true;
    system_->send(ActorRef{}, root_, make_message<Drain>(config_.node.drain_timeout));
  };
  options.metrics = [this] { return render_metrics(); };
  TROUPE_TRY_ASSIGN(
      admin_, AdminServer::start(std::move(admin_port_), *system_, root_, std::move(options)));
  return ok_status();
}

Status ServingNode::open_http() {
  const Status files = allow_connections(static_cast<std::size_t>(config_.gateway.max_connections));
  if (!files.ok()) logging::warn("node", files.error().message);
  HttpHost::Options options;
  options.metrics = [this] { return render_metrics(); };
  options.openapi = openapi_document(TROUPE_VERSION);
  options.cors.origins = config_.gateway.cors_origins;
  TROUPE_TRY(open_access_log());
  options.access = access_book_.get();
  TROUPE_TRY_ASSIGN(options.keys, KeyRing::parse(config_.gateway.api_keys));
  tenants_ = options.keys.tenants();
  host_ = std::make_unique<HttpHost>(*system_, std::move(options));
  host_->attach(*server_);
  return server_->start(*host_);
}

Status ServingNode::open_access_log() {
  const config::ObserveSection& observe = config_.observe;
  if (observe.access_log == "off") return ok_status();
  AccessBook::Options options;
  options.health = observe.access_log_health;
  options.text_bytes = observe.access_log_text.value;
  if (options.text_bytes > 0) {
    options.waiting_max = std::min(options.waiting_max, kAccessTextMax / options.text_bytes + 1);
  }
  access_book_ = std::make_unique<AccessBook>(options);
  AccessWriter::Callbacks callbacks;
  callbacks.take = [this](std::vector<AccessRecord>& out) {
    return access_book_->take(out, monotonic_now());
  };
  callbacks.lost = [this](std::uint64_t lines) {
    metrics_->note({}, {effect::NoteKind::kCount,
                        "troupe_access_log_dropped_total",
                        static_cast<double>(lines),
                        {}});
  };
  callbacks.complain = [](const std::string& text) { logging::warn("access_log", text); };
  TROUPE_TRY_ASSIGN(access_writer_, AccessWriter::open(observe.access_log, std::move(callbacks)));
  return ok_status();
}

void ServingNode::reload() {
  if (access_writer_) access_writer_->reopen();
  const config::GatewaySection& gateway = config_.gateway;
  if (!server_ || gateway.tls_certificate.empty()) return;
  auto tls = http::TlsContext::make(gateway.tls_certificate, gateway.tls_key);
  if (!tls.ok()) {
    return logging::error("tls", tls.error().message + "; the old certificate stays in use");
  }
  server_->renew_tls(std::move(*tls));
  logging::info("tls", "new connections get the certificate in " + gateway.tls_certificate);
}

NodeCore::Args ServingNode::root_args() {
  NodeCore::Args args;
  args.with_gateway = with_gateway_;
  args.gateway.requests_max =
      static_cast<std::uint32_t>(config_.gateway.max_queue) +
      static_cast<std::uint32_t>(config_.engine.max_num_seqs) *
          static_cast<std::uint32_t>(std::max<std::int64_t>(1, config_.engine.ranks));
  args.gateway.request_timeout = config_.gateway.request_timeout;
  args.gateway.retry_after = config_.gateway.retry_after;
  args.gateway.tenants = tenants_;
  args.gateway.version = TROUPE_VERSION;
  args.gateway.preparer = std::make_shared<const RecipePreparer>(
      engines_.models, "troupe-" TROUPE_VERSION, std::max(1u, std::thread::hardware_concurrency()),
      config_.gateway.responses_max > 0 ? draw_secret() : std::string(),
      conversion_of(config_.recipe), config_.gateway.max_body_bytes.value);
  args.responses.limits.count_max = static_cast<std::uint64_t>(config_.gateway.responses_max);
  args.responses.limits.bytes_max = config_.gateway.responses_bytes.value;
  args.responses.limits.ttl_seconds = config_.gateway.responses_ttl.value / 1'000'000'000;
  args.responses.path = config_.gateway.responses_file;
  args.streams.buffer_max = config_.gateway.stream_buffer_bytes;
  args.streams.park_max = config_.gateway.park_timeout;
  args.streams.keep_alive = config_.gateway.stream_keepalive;
  args.ranks = engines_.ranks;
  if (host_) args.front = args.gateway.front = host_->endpoint();
  return args;
}

std::string ServingNode::render_metrics() {
  std::uint64_t longest = 0;
  for (const auto& actor : system_->list()) longest = std::max(longest, actor.mailbox);
  metrics_->set("troupe_actors", static_cast<double>(system_->actor_count()));
  metrics_->set("troupe_dead_letters", static_cast<double>(system_->dead_letters()));
  metrics_->set("troupe_actor_mailbox_max", static_cast<double>(longest));
  if (server_) {
    const http::Stats stats = server_->stats();
    metrics_->set("troupe_http_connections", static_cast<double>(stats.connections_open));
    metrics_->set("troupe_http_body_bytes", static_cast<double>(stats.body_bytes_held));
  }
  return metrics_->render();
}

std::uint16_t ServingNode::port() const {
  return server_ ? server_->port() : 0;
}

bool ServingNode::running() const {
  return system_->alive(root_);
}

bool ServingNode::stop(Duration drain) {
  if (stopped_ || !system_) return true;
  stopped_ = true;
  if (admin_) admin_->stop();
  // Still listening: a load balancer must see that the node is alive and not ready.
  if (host_) host_->set_draining();
  if (server_) server_->wind_down();
  const Status ended = system_->shutdown(drain + NodeCore::kDrainEnd, kForce);
  if (!ended.ok()) {
    logging::error("shutdown", to_string(ended.error()));
    return false;
  }
  for (std::size_t i = 0; i < engines_.devices.size(); ++i) {
    engines_.devices[i]->close_stream(engines_.ranks[i].args.stream.stream);
  }
  if (engines_.steps) {
    const Status saved = engines_.steps->save(config_.engine.cost_file);
    if (!saved.ok()) logging::error("cost_file", saved.error().message);
  }
  if (server_) server_->shutdown(kHttpClose);
  if (host_) host_->stop_scrapes();
  // After the last request: the writer ends with what there is.
  if (access_book_) access_book_->close();
  access_writer_.reset();
  return true;
}

}  // namespace troupe
