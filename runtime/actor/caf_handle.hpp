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

/// Changes CAF's configuration before its actor system is made: loads modules, sets options.
class CafSetup {
 public:
  virtual ~CafSetup() = default;
  virtual void configure(caf::actor_system_config& config) = 0;
};

}  // namespace troupe
