#include "runtime/actor/message.hpp"

#include "runtime/actor/ref.hpp"

namespace troupe {

std::string Message::describe() const {
  if (payload_ == nullptr) return "nothing";
  std::string out(type().info.name);
  type().print(*payload_, out);
  return out;
}

std::string to_string(const ActorRef& ref) {
  if (!ref) return "nobody";
  constexpr char digits[] = "0123456789abcdef";
  std::string id(16, '0');
  for (int i = 0; i < 16; ++i) id[15 - i] = digits[(ref.local >> (4 * i)) & 15];
  return std::to_string(ref.node.value) + "." + std::to_string(ref.incarnation) + "/" + id + "#" +
         std::to_string(ref.life);
}

}  // namespace troupe
