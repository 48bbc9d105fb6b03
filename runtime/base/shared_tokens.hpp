// Token ids that several holders keep as one: a prompt goes from its request to each of its rows,
// and 128 choices of a long prompt must not be 128 copies.
//
// Reads like a vector; on the wire it is one. Threads: immutable; holders on any.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/strong.hpp"

namespace troupe {

class SharedTokens {
 public:
  using Ids = std::vector<TokenId>;

  SharedTokens() = default;
  SharedTokens(Ids ids)  // a vector stands for itself
      : ids_(ids.empty() ? nullptr : std::make_shared<const Ids>(std::move(ids))) {}
  SharedTokens(std::initializer_list<TokenId> ids) : SharedTokens(Ids(ids)) {}

  const Ids& ids() const {
    static const Ids kNothing;
    return ids_ ? *ids_ : kNothing;
  }
  operator const Ids&() const { return ids(); }
  /// Null if there are none.
  const std::shared_ptr<const Ids>& shared() const { return ids_; }
  bool empty() const { return ids().empty(); }
  std::size_t size() const { return ids().size(); }
  Ids::const_iterator begin() const { return ids().begin(); }
  Ids::const_iterator end() const { return ids().end(); }
  void clear() { ids_.reset(); }

  friend bool operator==(const SharedTokens& a, const SharedTokens& b) {
    return a.ids() == b.ids();
  }

  static void fields(auto& self, auto&& visit) {
    if constexpr (std::is_const_v<std::remove_reference_t<decltype(self)>>) {
      visit("ids", self.ids());
    } else {
      Ids ids = self.ids();
      visit("ids", ids);
      self = SharedTokens(std::move(ids));
    }
  }

 private:
  std::shared_ptr<const Ids> ids_;
};

}  // namespace troupe
