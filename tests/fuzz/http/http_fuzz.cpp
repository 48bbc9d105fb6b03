// What a client may send: any bytes, cut anywhere, as requests one after another, compressed bodies
// included. Each request is answered by an echo of its body, whose bytes leave in pieces and must
// be read as what was sent.
//
// Input: a byte for the cuts of the request, one for those of the answer, then the connection's
// bytes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/assert.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/http/answer_writer.hpp"
#include "runtime/http/cors.hpp"
#include "runtime/http/request_reader.hpp"
#include "runtime/http/response_reader.hpp"

namespace {

using namespace troupe::http;
using Stage = RequestReader::Stage;

constexpr std::size_t kHeaderMax = 2048;
constexpr std::size_t kBodyMax = 16 * 1024;
constexpr std::size_t kBodiesMax = 64 * 1024;

/// All that a connection's bytes mean.
struct Meaning {
  std::vector<Request> requests;
  bool refused = false;
  bool middle = false;  ///< ends within a request

  friend bool operator==(const Meaning& a, const Meaning& b) {
    if (a.refused != b.refused || a.middle != b.middle) return false;
    return std::equal(a.requests.begin(), a.requests.end(), b.requests.begin(), b.requests.end(),
                      [](const Request& x, const Request& y) {
                        return x.method == y.method && x.path == y.path && x.query == y.query &&
                               x.headers == y.headers && x.body == y.body;
                      });
  }
};

/// Pieces of 1 to 64 bytes, most of them short, or everything at once.
std::size_t next_piece(troupe::Rng* cuts) {
  return cuts == nullptr ? SIZE_MAX : 1 + (cuts->next() % 64) % (1 + cuts->next() % 64);
}

Meaning read_all(std::string_view bytes, troupe::Rng* cuts) {
  Meaning meaning;
  ByteBudget bodies(kBodiesMax);
  {
    RequestReader reader(kHeaderMax, kBodyMax, bodies);
    while (!bytes.empty() && reader.stage() != Stage::kRefused) {
      std::string_view piece = bytes.substr(0, next_piece(cuts));
      bytes.remove_prefix(piece.size());
      while (!piece.empty() && reader.stage() != Stage::kRefused) {
        piece.remove_prefix(reader.feed(piece));
        if (reader.stage() != Stage::kDone) continue;
        const ByteLease lease = reader.take_lease();
        meaning.requests.push_back(reader.take());
        const std::size_t size = meaning.requests.back().body.size();
        const bool in_place = size <= std::string().capacity();  // it owns no memory
        TROUPE_ASSERT(in_place || lease.held() >= size, "a body is paid for");
        TROUPE_ASSERT(size <= kBodyMax, "a body has a limit");
        reader.reset();
      }
    }
    meaning.refused = reader.stage() == Stage::kRefused;
    meaning.middle = reader.stage() == Stage::kHead || reader.stage() == Stage::kBody;
    if (meaning.refused) TROUPE_ASSERT(reader.refusal().status >= 400, "a refusal has a status");
  }
  TROUPE_ASSERT(bodies.used() == 0, "what was paid for is given back");
  return meaning;
}

class Echo final : public ResponseReader::Sink {
 public:
  void on_head(int status, const Headers&) override { this->status = status; }
  void on_body(std::string_view bytes) override { body += bytes; }
  int status = 0;
  std::string body;
};

void answer(const Request& request, troupe::Rng& cuts) {
  const CorsPolicy policy{{"https://a.example"}};
  AnswerWriter writer;
  writer.start_exchange({.head = request.method == "HEAD",
                         .keep_alive = true,
                         .fields = cors_headers(policy, request.headers)});
  if (auto preflight = preflight_answer(policy, request)) {
    writer.respond(std::move(*preflight));
  } else if (cuts.next() % 2 == 0) {
    writer.respond({200, {{"x-path", request.path}}, request.body});
  } else {
    writer.begin(200, {{"x-path", request.path}});
    for (std::string_view rest = request.body; !rest.empty();) {
      const auto piece = rest.substr(0, next_piece(&cuts) * 16);
      writer.write(piece);
      rest.remove_prefix(piece.size());
    }
    writer.end();
  }
  Echo echo;
  ResponseReader reader(echo);
  reader.reset(request.method == "HEAD");
  while (!writer.complete()) {
    std::string out;
    for (const auto piece : writer.next()) out += piece;
    out.resize(std::min(out.size(), next_piece(&cuts) * 32));
    writer.wrote(out.size());
    const auto taken = reader.feed(out);
    TROUPE_ASSERT(taken.ok() && *taken == out.size(), "an answer is HTTP, and nothing follows it");
  }
  TROUPE_ASSERT(reader.done(), "an answer has an end");
  const bool bodiless = request.method == "HEAD" || echo.status == 204;
  TROUPE_ASSERT(echo.body == (bodiless ? "" : request.body), "a body arrives as it was sent");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  troupe::Rng cuts(data[0]);
  troupe::Rng answer_cuts(data[1]);
  const Meaning whole = read_all(bytes, nullptr);
  TROUPE_ASSERT(read_all(bytes, &cuts) == whole, "cuts change nothing");
  for (const Request& request : whole.requests) answer(request, answer_cuts);
  return 0;
}
