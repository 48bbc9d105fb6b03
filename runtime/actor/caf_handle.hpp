// The seam for the other files that include CAF (caf_*.cpp, and nobody else).
//
// The link needs CAF's middleman: it configures CAF before the system starts (CafSetup) and reaches
// the running actor system through ActorSystem::caf().
#pragma once

namespace caf {
class actor_system;
class actor_system_config;
}  // namespace caf

namespace troupe {

struct CafHandle {
  caf::actor_system* system;
};

/// Takes part in the life of CAF's actor system; outlives it.
class CafSetup {
 public:
  virtual ~CafSetup() = default;
  /// Before the actor system is made: loads modules, sets options.
  virtual void configure(caf::actor_system_config& config) = 0;
  /// All our actors have ended and CAF's actor system is about to: what the setup's owner spawned
  /// in it must end now. May wait, but not long.
  virtual void closing() = 0;
};

}  // namespace troupe
