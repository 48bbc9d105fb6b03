#include "runtime/actor/message.hpp"

#include "runtime/actor/ref.hpp"
#include "runtime/actor/subject.hpp"

namespace troupe {

std::string Message::describe() const {
  if (payload_ == nullptr) return "nothing";
  std::string out(type().info.name);
  type().print(*payload_, out);
  return out;
}

namespace {

std::string hex_digits(std::uint64_t number) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 0; i < 16; ++i) text[15 - i] = digits[(number >> (4 * i)) & 15];
  return text;
}

}  // namespace

std::string to_string(const ActorRef& ref) {
  if (!ref) return "nobody";
  return std::to_string(ref.node.value) + "." + std::to_string(ref.incarnation) + "/" +
         hex_digits(ref.local) + "#" + std::to_string(ref.life);
}

std::string to_string(const Subject& subject) {
  return *subject.prefix == '\0' ? "" : subject.prefix + hex_digits(subject.number);
}

}  // namespace troupe
