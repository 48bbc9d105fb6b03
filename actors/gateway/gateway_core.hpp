// Gateway: admits HTTP requests, gives each a request actor, and places them on ranks.
//
// Routes: routes.hpp. An Operation becomes a request actor, whether it needs a rank or not, so that
// all of them have the same limits; a Page is answered here, and so are the health paths of
// health.hpp. Live the HTTP host answers health from GatewayHealth, and /metrics, whose registry it
// holds.
//
// Protocol: session_messages.hpp, gateway_messages.hpp.
//
// Invariants
// 1. At most `requests_max` requests live at once, each further choice of one (`n`) counted; more
//    get 503 with Retry-After at once (Anthropic clients: 529). What a key may use beside that is
//    in admission.hpp: 429.
// 2. A request is a child: its end, for any reason, ends its load and its entry here.
// 3. A Drain refuses new requests; one without time left also ends those that are under way.
// 4. /ready is 200 only while a rank is known and nothing drains; /live is 200 while this answers.
#pragma once

#include <memory>
#include <string>

#include "actors/gateway/admission.hpp"
#include "actors/gateway/rank_table.hpp"
#include "actors/gateway/routes.hpp"
#include "actors/request/request_core.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/base/id_map.hpp"
#include "runtime/recipe/text/api_error.hpp"

namespace troupe {

class GatewayCore {
 public:
  using Accepts = GatewayProtocol;
  struct Args {
    std::uint32_t requests_max = 320;  ///< live at once: running and waiting
    Duration request_timeout = seconds(600);
    Duration retry_after = seconds(1);
    ActorRef front;  ///< hears of GatewayHealth and ExchangeLost; nobody in simulation
    std::string version;
    std::shared_ptr<const RequestPreparer> preparer;
    std::vector<TenantLimits> tenants;  ///< of the configured keys
  };
  static constexpr const char* kKind = "gateway";

  explicit GatewayCore(const Args& args) : args_(args), admission_(args.tenants) {}

  void on(const Started&, Context& context, Effects& out);
  void on(const HttpArrived& arrived, Context& context, Effects& out);
  void on(const SessionGone& gone, Context& context, Effects& out);
  void on(const PlaceRequest& place, Context& context, Effects& out);
  void on(const RankJoined& joined, Context& context, Effects& out);
  void on(const RankLeft& left, Context& context, Effects& out);
  void on(const StreamsStarted& started, Context& context, Effects& out);
  void on(const ResponsesStarted& started, Context& context, Effects& out);
  void on(const CancelRequest& cancel, Context& context, Effects& out);
  void on(const TimerFired&, Context&, Effects&) {}
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);
  void on(const Drain& drain, Context& context, Effects& out);

  void fetch_ahead(const Down& down) const { live_.fetch(down.ref); }

  const char* phase() const;
  std::string describe() const;
  /// Those that count: questions to the store of responses do not.
  std::size_t live_requests() const { return requests(); }

 private:
  /// Unique in a cluster's life; below 2^53, so that JSON carries it.
  RequestId next_id(const ActorRef& self);
  std::size_t requests() const { return live_.size() - questions_; }
  /// Whether a request under way of this tenant may have so many rows.
  bool has_room_for(std::uint32_t rows, const std::string& tenant) const;
  Error no_room_for(std::uint32_t rows) const;
  void admit(const HttpArrived& arrived, Context& context, Effects& out);
  /// GET and DELETE of a kept response: needs no rank and takes nobody's place.
  void ask_store(const HttpArrived& arrived, Context& context, Effects& out);
  struct Terms {
    HeaderList headers;  ///< that its answer carries beside its id
    bool counts;         ///< it takes a place of its key's
    Duration timeout;
  };
  /// The request actor.
  void begin(const HttpArrived& arrived, Terms terms, Context& context, Effects& out);
  /// Why nobody is admitted now; empty: somebody may be.
  std::string closed(const std::string& tenant) const;
  void answer(const HttpArrived& arrived, std::uint16_t status, std::string body, Effects& out);
  ServingState state() const;
  void tell_health(Effects& out);
  void answer_page(const HttpArrived& arrived, Page page, Effects& out);
  void answer_model(const HttpArrived& arrived, Effects& out);
  void refuse(const HttpArrived& arrived, Code code, std::string_view message, Effects& out);
  void refuse(const HttpArrived& arrived, const ApiError& error, Effects& out);

  Args args_;
  Admission admission_;
  RankTable ranks_;
  ActorRef streams_;
  ActorRef store_;  ///< of responses; nobody if none are kept
  struct Live {
    RequestId id;
    ActorRef session;
    std::uint64_t exchange = 0;
    std::string tenant;
    RankTable::Place place;       ///< its rows' at a rank
    std::uint32_t more_rows = 0;  ///< behind its first
    bool counts = true;           ///< takes a place; else a question to the store
  };
  IdMap<ActorRef, Live> live_;   ///< by the request's actor
  std::uint64_t more_rows_ = 0;  ///< of all live requests
  std::size_t questions_ = 0;    ///< of the live ones
  std::uint32_t next_request_ = 0;
  bool draining_ = false;
  ServingState told_ = ServingState::kStarting;
};

}  // namespace troupe
