#include "tests/runtime/actor/caf/toys.hpp"

namespace troupe::toys {

System::System(SystemOptions options) : ActorSystem(std::move(options)) {}

}  // namespace troupe::toys
