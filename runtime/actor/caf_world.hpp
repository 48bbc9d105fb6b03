// The CAF simulation driver: the virtual world with real CAF actors in it.
//
// Every actor of the world is hosted by a CAF actor with a mailbox, run by a scheduler module of
// ours on the calling thread; an actor's end is an exit message to that CAF actor, and the books
// are closed from its clean-up. World decides order, time and effects for both drivers, so that
// equal trace hashes of World and CafWorld show that hosting adds nothing and loses nothing.
//
// Invariants
// 1. CAF runs only inside of step(): when it returns, every mailbox is empty and nobody is
// runnable.
// 2. CAF sees the world's virtual time, and no CAF timer is ever used.
// 3. Construction and destruction end, whatever lives: all actors are ended first.
//
// Threads: one. Slower than World (one mailbox element and one scheduling an event): it proves the
// wiring, the sweeps use World.
#pragma once

#include <memory>

#include "runtime/actor/world.hpp"

namespace troupe {

class CafWorld final : public World {
 public:
  explicit CafWorld(WorldOptions options);
  ~CafWorld() override;

 private:
  struct Hosting;

  void started(Entry& entry) override;
  void deliver(Entry& entry, const Envelope& envelope) override;
  void terminate(Entry& entry) override;

  std::unique_ptr<Hosting> hosting_;
};

}  // namespace troupe
