#include "runtime/http/client.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <unordered_map>

#include "runtime/base/assert.hpp"
#include "runtime/http/call_connection.hpp"

namespace troupe::http {

using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

/// The part of a client that lives on one loop: its calls and its pool.
class Part final : public CallOwner {
 public:
  explicit Part(const ClientOptions& options) : options_(options), resolver_(loop_.context()) {}

  void run();
  void stop() {
    loop_.stop([this] { drop_all(); });
  }
  void start(std::shared_ptr<Call> call);
  /// Ends a call that the inbox had no room for.
  void refuse(std::shared_ptr<Call> call);
  /// False if no such call runs.
  bool cancel(CallId id);

  Loop& loop() override { return loop_; }
  std::array<char, 64 * 1024>& scratch() override { return scratch_; }
  void on_finished(const std::shared_ptr<Call>& call) override { calls_.erase(call->id); }
  void on_stale(std::shared_ptr<Call> call) override { connect(std::move(call)); }
  void on_idle(std::shared_ptr<CallConnection> connection) override;
  void on_idle_closed(CallConnection& connection) override;

 private:
  using Pool = std::deque<std::shared_ptr<CallConnection>>;

  static std::string key_of(const ClientRequest& request) {
    return request.host + " " + std::to_string(request.port);
  }
  void connect(std::shared_ptr<Call> call);
  void connect_to(const std::shared_ptr<Call>& call, std::vector<tcp::endpoint> endpoints);
  void fail(const std::shared_ptr<Call>& call, const Error& error);
  void on_tick(Time now);
  void drop_all();

  const ClientOptions options_;
  Loop loop_;
  tcp::resolver resolver_;
  std::unordered_map<CallId, std::shared_ptr<Call>> calls_;
  std::unordered_map<std::string, Pool> pools_;  ///< youngest last
  std::array<char, 64 * 1024> scratch_;
};

void Part::run() {
  loop_.start({.after_batch = {},
               .on_tick = [this](Time now) { on_tick(now); },
               .wants_tick = [this] { return !calls_.empty() || !pools_.empty(); }});
}

void Part::start(std::shared_ptr<Call> call) {
  calls_.emplace(call->id, call);
  loop_.ensure_tick();
  const auto pool = pools_.find(key_of(call->request));
  if (pool == pools_.end()) return connect(std::move(call));
  call->connection = std::move(pool->second.back());
  pool->second.pop_back();
  if (pool->second.empty()) pools_.erase(pool);
  const auto connection = call->connection;
  connection->reuse(std::move(call));
}

void Part::refuse(std::shared_ptr<Call> call) {
  calls_.emplace(call->id, call);
  // Behind this batch: a cancel() that its caller sent along comes first.
  boost::asio::post(loop_.context(), [this, call = std::move(call)] {
    if (!calls_.contains(call->id)) return;
    fail(call, {Code::kTooLarge, "too many requests wait for the client's thread"});
  });
}

void Part::connect(std::shared_ptr<Call> call) {
  call->connection.reset();
  call->connect_deadline = monotonic_now() + call->request.connect_timeout;
  error_code error;
  const auto address = boost::asio::ip::make_address(call->request.host, error);
  if (!error) return connect_to(call, {tcp::endpoint(address, call->request.port)});
  resolver_.async_resolve(
      call->request.host, std::to_string(call->request.port), tcp::resolver::numeric_service,
      [this, call](const error_code& failed, const tcp::resolver::results_type& found) {
        if (!calls_.contains(call->id)) return;
        if (failed || found.empty())
          return fail(call, {Code::kNotFound, "the host name " + call->request.host +
                                                  " has no address: " + failed.message()});
        std::vector<tcp::endpoint> endpoints;
        for (const auto& entry : found) endpoints.push_back(entry.endpoint());
        connect_to(call, std::move(endpoints));
      });
}

void Part::connect_to(const std::shared_ptr<Call>& call, std::vector<tcp::endpoint> endpoints) {
  call->connection = std::make_shared<CallConnection>(*this, key_of(call->request));
  call->connection->connect(call, std::move(endpoints));
}

/// Ends a call wherever it is.
void Part::fail(const std::shared_ptr<Call>& call, const Error& error) {
  if (call->connection) return call->connection->fail(error);
  calls_.erase(call->id);
  if (call->callbacks.on_error) call->callbacks.on_error(error);
}

bool Part::cancel(CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return false;
  const auto call = found->second;
  calls_.erase(found);
  if (call->connection) call->connection->close();
  return true;
}

void Part::on_idle(std::shared_ptr<CallConnection> connection) {
  if (options_.idle_connections_max == 0) return connection->close();
  Pool& pool = pools_[connection->pool_key()];
  pool.push_back(std::move(connection));
  if (pool.size() <= options_.idle_connections_max) return;
  pool.front()->close();
  pool.pop_front();
}

void Part::on_idle_closed(CallConnection& connection) {
  const auto pool = pools_.find(connection.pool_key());
  if (pool == pools_.end()) return;
  std::erase_if(pool->second, [&](const auto& other) { return other.get() == &connection; });
  if (pool->second.empty()) pools_.erase(pool);
}

void Part::on_tick(Time now) {
  std::vector<std::shared_ptr<Call>> late;
  for (const auto& [id, call] : calls_) {
    const bool connecting = !call->connection || call->connection->connecting();
    if (now >= call->deadline || (connecting && now >= call->connect_deadline))
      late.push_back(call);
  }
  for (const auto& call : late) {
    if (!calls_.contains(call->id)) continue;  // an earlier callback ended it
    const bool whole = now >= call->deadline;
    fail(call, {Code::kDeadline, (whole ? "no complete answer within the time limit from "
                                        : "no connection within the time limit to ") +
                                     call->request.host});
  }
  for (auto pool = pools_.begin(); pool != pools_.end();) {
    Pool& idle = pool->second;
    while (!idle.empty() && now - idle.front()->idle_since() > options_.idle_timeout) {
      idle.front()->close();
      idle.pop_front();
    }
    pool = idle.empty() ? pools_.erase(pool) : std::next(pool);
  }
}

void Part::drop_all() {
  for (const auto& [id, call] : calls_) {
    if (call->connection) call->connection->close();
    call->connection.reset();
  }
  for (const auto& [key, pool] : pools_) {
    for (const auto& connection : pool) connection->close();
  }
  calls_.clear();
  pools_.clear();
}

}  // namespace

struct Client::Impl {
  std::vector<std::unique_ptr<Part>> parts;
  std::atomic<std::uint64_t> next{1};

  Part& part_of(CallId call) { return *parts[call.value % parts.size()]; }
};

Client::Client(const ClientOptions& options) : impl_(std::make_unique<Impl>()) {
  TROUPE_ASSERT(options.threads >= 1, "a client has at least one io thread");
  for (int i = 0; i < options.threads; ++i) impl_->parts.push_back(std::make_unique<Part>(options));
  for (auto& part : impl_->parts) part->run();
}

Client::~Client() {
  for (auto& part : impl_->parts) part->stop();
}

CallId Client::start(ClientRequest request, ClientCallbacks callbacks) {
  auto call = std::make_shared<Call>();
  call->id = CallId(impl_->next.fetch_add(1));
  call->deadline = monotonic_now() + request.total_timeout;
  call->request = std::move(request);
  call->callbacks = std::move(callbacks);
  Part& part = impl_->part_of(call->id);
  const CallId id = call->id;
  const std::size_t bytes = call->request.body.size();
  const bool taken = part.loop().submit(bytes, [&part, call] { part.start(call); });
  if (taken) return id;
  // Told on the loop as everything else: the caller may hold a lock that its callbacks take.
  call->request.body = {};
  (void)part.loop().submit(0, [&part, call] { part.refuse(call); });
  return id;
}

void Client::cancel(CallId call) {
  Part& part = impl_->part_of(call);
  if (part.loop().is_current_thread() && part.cancel(call)) return;
  // Also from the loop's own thread: a call that was just started is still in the inbox.
  (void)part.loop().submit(0, [&part, call] { part.cancel(call); });
}

}  // namespace troupe::http
