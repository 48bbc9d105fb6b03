// The CAF engine: each live actor is one event-based CAF actor that carries Mail.
//
// CAF.md section 8 in code: scheduler policy "sharing" (caf_scheduler.hpp), 64 messages a turn, no
// CAF requests. Actors start lazily and hidden: a birth costs no scheduling of its own, and CAF's
// destructor never waits for an actor (the node counts hosts itself and knows a deadline).
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/logger.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "runtime/actor/caf_handle.hpp"
#include "runtime/actor/caf_scheduler.hpp"
#include "runtime/actor/hosted_actor.hpp"
#include "runtime/actor/live_node.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Mail)

namespace troupe {

namespace {

/// Hands every mail that is left in a closed mailbox to HostedActor::bounce.
struct Bouncer {
  HostedActor& actor;

  void operator()(const caf::mailbox_element& element) const {
    if (element.content().match_elements<Mail>()) {
      actor.bounce(ReturnSlip(element.content().get_as<Mail>(0)));
    }
  }
  /// The mailbox nests queues; the element is the last argument.
  template <class Key, class Queue, class... Rest>
  caf::intrusive::task_result operator()(const Key&, const Queue&, const Rest&... rest) const {
    (*this)(rest...);
    return caf::intrusive::task_result::resume;
  }
};

class CafHost final : public caf::event_based_actor, public Host {
 public:
  CafHost(caf::actor_config& config, LiveNode& node, Birth& birth)
      : caf::event_based_actor(config), actor_(*this, node, std::move(birth)) {}

  HostedActor& actor() override { return actor_; }

  void post(Mail mail) override {
    actor_.observed().arrived();
    // CAF drops an element that meets a closed mailbox: what a bounce needs is kept aside.
    const ReturnSlip slip(mail);
    auto element = caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, std::move(mail));
    switch (mailbox().push_back(std::move(element))) {
      case caf::intrusive::inbox_result::success:
        return;
      case caf::intrusive::inbox_result::unblocked_reader:
        caf::intrusive_ptr_add_ref(ctrl());
        home_system().scheduler().enqueue(this);
        return;
      case caf::intrusive::inbox_result::queue_closed:
        return actor_.bounce(slip);
    }
  }

  void retain() noexcept override { caf::intrusive_ptr_add_ref(ctrl()); }
  void release() noexcept override { caf::intrusive_ptr_release(ctrl()); }

  const char* name() const override { return actor_.observed().kind; }

 protected:
  caf::behavior make_behavior() override {
    return {[this](Mail& mail) {
      if (!actor_.on_mail(mail)) quit();
    }};
  }

  bool cleanup(caf::error&& reason, caf::execution_unit* unit) override {
    if (!mailbox().closed()) {
      mailbox().close();
      mailbox().flush_cache();
      Bouncer bouncer{actor_};
      while (mailbox().queue().new_round(1000, bouncer).consumed_items > 0) continue;
    }
    return caf::event_based_actor::cleanup(std::move(reason), unit);
  }

 private:
  HostedActor actor_;
};

caf::actor_system_config& configured(caf::actor_system_config& config,
                                     const SystemOptions& options) {
  config.module_factories.push_back([](caf::actor_system& made) -> caf::actor_system::module* {
    return new SharingScheduler<CafHost>(made);
  });
  config.set("scheduler.max-threads", options.scheduler_threads);
  config.set("scheduler.max-throughput", std::size_t{64});
  if (options.caf != nullptr) options.caf->configure(config);
  return config;
}

class CafEngine final : public Engine {
 public:
  explicit CafEngine(const SystemOptions& options)
      : setup_(options.caf), caf_(std::make_unique<Caf>(options)) {
    forget_logger();
  }
  /// CAF's own end has no deadline: a dial that nobody answers may hold it. Where a link dials it
  /// gets kCafEndMax on a thread of its own, which is then left behind.
  ~CafEngine() override {
    if (setup_ == nullptr) return;
    setup_->closing();
    auto ended = std::make_shared<std::promise<void>>();
    auto end = ended->get_future();
    std::thread([caf = std::move(caf_), ended]() mutable {
      caf.reset();
      ended->set_value();
    }).detach();
    end.wait_for(kCafEndMax);
  }

  HostPtr start(LiveNode& node, Birth birth) override {
    const auto handle = caf_->system.spawn<CafHost, caf::lazy_init + caf::hidden>(node, birth);
    forget_logger();
    return HostPtr(caf::actor_cast<CafHost*>(handle));
  }
  caf::actor_system& system() { return caf_->system; }

 private:
  struct Caf {
    explicit Caf(const SystemOptions& options) : system(configured(config, options)) {}
    caf::actor_system_config config;
    caf::actor_system system;
  };

  static constexpr std::chrono::milliseconds kCafEndMax{500};

  /// CAF leaves a counted pointer to its logger on each thread that makes a system or spawns, and
  /// its end waits until all of them are gone: those of other threads than the ending one, for
  /// ever.
  static void forget_logger() { caf::logger::set_current_actor_system(nullptr); }

  CafSetup* setup_;
  std::unique_ptr<Caf> caf_;
};

}  // namespace

ActorSystem::ActorSystem(SystemOptions options)
    : ActorSystem(options, std::make_unique<CafEngine>(options)) {}

CafHandle ActorSystem::caf() {
  return {&dynamic_cast<CafEngine&>(node_->engine()).system()};
}

}  // namespace troupe
