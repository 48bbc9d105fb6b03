#include "runtime/actor/caf_world.hpp"

#include <caf/actor_clock.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <caf/send.hpp>
#include <deque>

namespace troupe {

namespace {

/// What lies in a simulated mailbox. The envelope is the world's, and outlives the delivery.
struct Delivery {
  const Envelope* envelope;
};

}  // namespace

}  // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Delivery)

namespace troupe {

namespace {

/// Virtual time for CAF. Cores time themselves by effects, so that a CAF timer is a wiring fault.
class VirtualClock final : public caf::actor_clock {
 public:
  explicit VirtualClock(const World& world) : world_(world) {}

  time_point now() const noexcept override {
    return time_point(std::chrono::nanoseconds(world_.now().value));
  }
  void set_ordinary_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                            std::uint64_t) override {
    refuse();
  }
  void set_multi_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                         std::uint64_t) override {
    refuse();
  }
  void set_request_timeout(time_point, caf::abstract_actor*, caf::message_id) override { refuse(); }
  void schedule_message(time_point, caf::strong_actor_ptr, caf::mailbox_element_ptr) override {
    refuse();
  }
  void schedule_message(time_point, caf::group, caf::strong_actor_ptr, caf::message) override {
    refuse();
  }
  void cancel_ordinary_timeout(caf::abstract_actor*, caf::atom_value) override {}
  void cancel_request_timeout(caf::abstract_actor*, caf::message_id) override {}
  void cancel_timeouts(caf::abstract_actor*) override {}
  void cancel_all() override {}

 private:
  [[noreturn]] static void refuse() {
    TROUPE_ASSERT(false, "simulated actors use Timer effects, not CAF's clock");
    std::abort();
  }
  const World& world_;
};

/// Runs CAF actors on the calling thread, first come first served.
class Coordinator final : public caf::scheduler::abstract_coordinator, public caf::execution_unit {
 public:
  Coordinator(caf::actor_system& system, const World& world)
      : abstract_coordinator(system), execution_unit(&system), clock_(world) {}

  void start() override {
    // CAF insists on a printer; nothing here prints.
    auto& system = abstract_coordinator::system();
    caf::actor_config config{this};
    utility_actors_[printer_id] =
        caf::make_actor<Mute, caf::actor>(system.next_actor_id(), system.node(), &system, config);
  }
  void stop() override { run(); }
  bool detaches_utility_actors() const override { return false; }
  void enqueue(caf::resumable* job) override { jobs_.push_back(job); }
  void exec_later(caf::resumable* job) override { jobs_.push_back(job); }
  caf::actor_clock& clock() noexcept override { return clock_; }

  /// Until nobody is runnable.
  void run() {
    while (!jobs_.empty()) {
      caf::resumable* job = jobs_.front();
      jobs_.pop_front();
      const auto result = job->resume(this, kMessagesATurn);
      if (result == caf::resumable::resume_later) {
        jobs_.push_back(job);
      } else if (result != caf::resumable::shutdown_execution_unit) {
        caf::intrusive_ptr_release(job);
      }
    }
  }

 private:
  class Mute final : public caf::monitorable_actor {
   public:
    explicit Mute(caf::actor_config& config) : caf::monitorable_actor(config) {}
    void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}
  };
  static constexpr std::size_t kMessagesATurn = 64;

  VirtualClock clock_;
  std::deque<caf::resumable*> jobs_;
};

class SimulatedHost final : public caf::event_based_actor {
 public:
  using Execute = std::function<void(const Envelope&)>;
  SimulatedHost(caf::actor_config& config, Execute execute)
      : caf::event_based_actor(config), execute_(std::move(execute)) {}

 protected:
  caf::behavior make_behavior() override {
    return {[this](const Delivery& delivery) { execute_(*delivery.envelope); }};
  }

 private:
  Execute execute_;
};

}  // namespace

struct CafWorld::Hosting {
  explicit Hosting(const World& world) : system(configured(world)) {
    coordinator = &dynamic_cast<Coordinator&>(system.scheduler());
  }

  caf::actor_system_config& configured(const World& world) {
    config.module_factories.push_back(
        [&world](caf::actor_system& made) -> caf::actor_system::module* {
          return new Coordinator(made, world);
        });
    return config;
  }

  caf::actor_system_config config;
  caf::actor_system system;
  Coordinator* coordinator = nullptr;
  FlatMap<caf::actor> actors;  ///< by local id: one life at a time
};

CafWorld::CafWorld(WorldOptions options)
    : World(std::move(options)), hosting_(std::make_unique<Hosting>(*this)) {}

CafWorld::~CafWorld() {
  end_all();
  hosting_->coordinator->run();
}

void CafWorld::started(Entry& entry) {
  // The world never runs an actor that it does not hold: the entry lives as long as its host.
  auto host = hosting_->system.spawn<SimulatedHost, caf::lazy_init + caf::hidden>(
      [this, mine = &entry](const Envelope& envelope) { execute(*mine, envelope); });
  host->attach_functor([this, ref = entry.ref](const caf::error&) { finish_end(ref); });
  hosting_->actors.insert(entry.ref.local, caf::actor_cast<caf::actor>(std::move(host)));
}

void CafWorld::deliver(Entry& entry, const Envelope& envelope) {
  caf::actor& host = *hosting_->actors.find(entry.ref.local);
  host->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, Delivery{&envelope}),
                hosting_->coordinator);
  hosting_->coordinator->run();
}

void CafWorld::terminate(Entry& entry) {
  const ActorRef ref = entry.ref;
  const caf::actor host = std::move(*hosting_->actors.find(ref.local));
  hosting_->actors.erase(ref.local);
  caf::anon_send_exit(host, caf::exit_reason::user_shutdown);
  hosting_->coordinator->run();
  TROUPE_ASSERT(World::entry(ref) == nullptr, "an ended host closes its actor's books");
}

}  // namespace troupe
