// The responses that are kept, bounded by number, bytes and age. Pure.
//
// Order: by last use. Keeping a response and asking for a conversation are uses of all responses
// that lead to it, so that a conversation that goes on keeps its beginning. What is over a bound
// goes in the order of its last use, oldest first; what nobody used for `ttl` goes too.
//
// Time is what the caller says. A use that lies ahead of it (a clock was set back, or a file lies)
// counts as one now.
//
// A response is found by its owner alone: to others it is not there.
//
// Units: seconds since 1970, bytes of the texts.
#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "actors/responses/response_messages.hpp"
#include "runtime/base/result.hpp"

namespace troupe {

struct ShelfLimits {
  std::uint64_t count_max = 0;
  std::uint64_t bytes_max = 0;  ///< also of one conversation that is asked for
  std::int64_t ttl_seconds = 0;
};

class ResponseShelf {
 public:
  /// The longest conversation, in responses.
  static constexpr std::size_t kTurnsMax = 1000;

  explicit ResponseShelf(const ShelfLimits& limits) : limits_(limits) {}
  ResponseShelf(ResponseShelf&&) = default;  // entries point into the list: it is never copied
  ResponseShelf& operator=(ResponseShelf&&) = default;

  /// `used`: when it was used last. False: it alone is over the bound of bytes. One of the same id
  /// is replaced. Nothing expires by it.
  bool put(SharedResponse response, std::int64_t used);
  bool drop(const std::string& id);
  void expire(std::int64_t now);

  SharedResponse find(const std::string& id, const std::string& owner) const;
  /// Everything that leads to `id`, oldest first. Errors: kNotFound names the response that is
  /// missing; kTooLarge.
  Result<std::vector<SharedResponse>> conversation(const std::string& id, const std::string& owner,
                                                   std::int64_t now);

  /// Oldest use first.
  std::vector<SharedResponse> all() const;
  std::size_t size() const { return entries_.size(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    SharedResponse response;
    std::int64_t used = 0;
    std::list<std::string>::iterator place;
  };
  using Entries = std::map<std::string, Entry>;

  static std::uint64_t bytes_of(const StoredResponse& response);
  void use(Entry& entry, std::int64_t now);
  void use_chain(const std::string& id, std::int64_t now);
  void erase(Entries::iterator at);

  ShelfLimits limits_;
  Entries entries_;
  std::list<std::string> order_;  ///< ids by last use, oldest first
  std::uint64_t bytes_ = 0;
};

}  // namespace troupe
