// A worker that answers at once, for the routers that the gateway is measured against.
//
//   bench_gateway_worker --port P [--chunks N] [--interval-ms M]
//
// POST: with "stream":true N chunks of server-sent events, one a write and one every M ms (0: as
// fast as they go), else one small completion. GET: what routers ask a worker before they use it.
// One thread. It measures nothing; its own CPU time does not count.
#include <algorithm>
#include <csignal>
#include <memory>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/bench/gateway/sockets.hpp"

namespace troupe::bench {
namespace {

constexpr const char* kCompletion =
    R"({"id":"chatcmpl-0","object":"chat.completion","created":1700000000,"model":"mock",)"
    R"("choices":[{"index":0,"message":{"role":"assistant","content":"Hello! How can I help?"},)"
    R"("logprobs":null,"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":12,"completion_tokens":9,"total_tokens":21}})";
constexpr const char* kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string with_head(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string chunk_of(const std::string& event) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", event.size());
  return size + event + "\r\n";
}

std::vector<std::string> stream_chunks(int count) {
  std::vector<std::string> chunks;
  for (int i = 0; i < count; ++i) {
    chunks.push_back(chunk_of(
        R"(data: {"id":"chatcmpl-0","object":"chat.completion.chunk","created":1700000000,)"
        R"("model":"mock","choices":[{"index":0,"delta":{"content":" tok"},"logprobs":null,)"
        R"("finish_reason":)" +
        std::string(i + 1 == count ? "\"stop\"" : "null") + "}]}\n\n"));
  }
  chunks.push_back(chunk_of("data: [DONE]\n\n") + "0\r\n\r\n");
  return chunks;
}

struct Connection {
  int socket = -1;
  std::string in;
  std::string out;
  std::size_t next = 0;  // chunk of the stream that goes on
  bool streaming = false;
};

class Worker {
 public:
  Worker(int port, int chunks, int interval_ms)
      : epoll_(epoll_create1(0)),
        interval_ns_(interval_ms * 1'000'000LL),
        chunks_(stream_chunks(chunks)),
        completion_(with_head(kCompletion)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int one = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    const sockaddr_in address = loopback(port);
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      std::perror("bind");
      std::exit(1);
    }
    listen(listener_, 4096);
    watch(epoll_, listener_, EPOLLIN, nullptr, EPOLL_CTL_ADD);
  }

  [[noreturn]] void run() {
    epoll_event events[256];
    for (;;) {
      const int count = epoll_wait(epoll_, events, 256, wait_ms());
      for (int i = 0; i < count; ++i) {
        if (events[i].data.ptr == nullptr) {
          accept_all();
        } else {
          serve(static_cast<Connection*>(events[i].data.ptr));
        }
      }
      send_due();
    }
  }

 private:
  using Due = std::pair<std::int64_t, int>;  // when, socket

  static std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
  }

  int wait_ms() const {
    if (due_.empty()) return -1;
    return static_cast<int>(std::max<std::int64_t>(0, (due_.top().first - now()) / 1'000'000));
  }

  void accept_all() {
    for (int socket; (socket = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
      set_no_delay(socket);
      auto connection = std::make_unique<Connection>();
      connection->socket = socket;
      watch(epoll_, socket, EPOLLIN, connection.get(), EPOLL_CTL_ADD);
      connections_[socket] = std::move(connection);
    }
  }

  void serve(Connection* connection) {
    static char bytes[65536];
    for (;;) {
      const ssize_t got = recv(connection->socket, bytes, sizeof bytes, 0);
      if (got == 0 || (got < 0 && errno != EAGAIN)) return drop(connection);
      if (got < 0) break;
      connection->in.append(bytes, static_cast<std::size_t>(got));
    }
    while (!connection->streaming && answer(*connection)) {
    }
    if (!flush(*connection)) drop(connection);
  }

  /// One request of what came; false if none is whole.
  bool answer(Connection& connection) {
    const std::size_t head = connection.in.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    std::size_t length = 0;
    const char* field = strcasestr(connection.in.c_str(), "\r\ncontent-length:");
    if (field != nullptr && field < connection.in.c_str() + head) {
      length = std::strtoul(field + 17, nullptr, 10);
    }
    if (connection.in.size() < head + 4 + length) return false;
    const std::string_view body(connection.in.data() + head + 4, length);
    if (connection.in.starts_with("POST ")) {
      const bool stream =
          body.find(R"("stream":true)") != body.npos || body.find(R"("stream": true)") != body.npos;
      stream ? begin_stream(connection) : void(connection.out += completion_);
    } else {
      connection.out += with_head(about(connection.in));
    }
    connection.in.erase(0, head + 4 + length);
    return true;
  }

  static std::string about(const std::string& request) {
    if (request.starts_with("GET /v1/models")) {
      return R"({"object":"list","data":[{"id":"mock","object":"model","created":1,)"
             R"("owned_by":"mock","max_model_len":32768}]})";
    }
    return R"({"model_path":"mock","served_model_name":"mock","is_generation":true,"dp_size":1,)"
           R"("version":"0.5"})";
  }

  void begin_stream(Connection& connection) {
    connection.out += kStreamHead;
    connection.streaming = true;
    connection.next = 0;
    due_.push({now() + interval_ns_, connection.socket});
  }

  void send_due() {
    while (!due_.empty() && due_.top().first <= now()) {
      const Due due = due_.top();
      due_.pop();
      const auto found = connections_.find(due.second);
      if (found == connections_.end() || !found->second->streaming) continue;
      Connection& connection = *found->second;
      connection.out += chunks_[connection.next++];
      connection.streaming = connection.next < chunks_.size();
      if (connection.streaming) due_.push({due.first + interval_ns_, due.second});
      if (!flush(connection)) drop(&connection);
    }
  }

  /// False if the client is gone. What does not fit into the socket goes with the next chunk.
  static bool flush(Connection& connection) {
    if (connection.out.empty()) return true;
    const ssize_t sent =
        send(connection.socket, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN;
    connection.out.erase(0, static_cast<std::size_t>(sent));
    return true;
  }

  void drop(Connection* connection) {
    close(connection->socket);
    connections_.erase(connection->socket);
  }

  int epoll_;
  int listener_ = -1;
  const std::int64_t interval_ns_;
  const std::vector<std::string> chunks_;
  const std::string completion_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

}  // namespace
}  // namespace troupe::bench

int main(int count, char** arguments) {
  using namespace troupe::bench;
  signal(SIGPIPE, SIG_IGN);
  raise_file_limit();
  const auto options = options_of(count, arguments);
  Worker(number_or(options, "--port", 0), number_or(options, "--chunks", 200),
         number_or(options, "--interval-ms", 0))
      .run();
}
