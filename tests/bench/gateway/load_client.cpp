// Load for gateways: chat completions over keep-alive connections, one thread.
//
//   bench_gateway_load --port P --connections N [--seconds S] [--stream 1] [--model M]
//                      [--max-tokens K] [--once 1] [--connect-rate R]
//
// Closed loop: each connection asks again as soon as it was answered, for S seconds. --once: each
// asks once, and the run ends when all were answered (open streams). Prints one JSON object:
// requests, chunks (server-sent events with data), errors, time to the first byte of a body and
// whole latency in microseconds, and seconds.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "tests/bench/gateway/sockets.hpp"

namespace troupe::bench {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Client {
  int socket = -1;
  double asked = 0;
  bool head_read = false;
  bool chunked = false;
  bool first_seen = false;
  std::size_t length = 0;  // of a body that is not chunked
  std::size_t got = 0;
  std::string head;
  std::string tail;  // of the body: marks may be cut
};

struct Plan {
  int port = 0;
  int connections = 1;
  double seconds = 5;
  bool stream = false;
  bool once = false;
  int connect_rate = 2000;  // a second
  std::string request;
};

class Load {
 public:
  explicit Load(Plan plan)
      : plan_(std::move(plan)),
        epoll_(epoll_create1(0)),
        clients_(static_cast<std::size_t>(plan_.connections)) {}

  void run() {
    begin_ = seconds_now();
    end_ = begin_ + plan_.seconds;
    std::size_t opened = 0;
    while (opened < clients_.size() || live_ > 0) {
      opened = open_more(opened);
      read_all(opened < clients_.size() ? 1 : 100);
      if (seconds_now() > end_ + kGrace) break;
    }
    errors_ += live_;  // those that never ended
  }

  void print() {
    const double seconds = seconds_now() - begin_;
    std::printf(R"({"requests":%zu,"chunks":%ld,"errors":%ld,"seconds":%.3f,"first_us_p50":%.0f,)"
                R"("first_us_p99":%.0f,"latency_us_p50":%.0f,"latency_us_p99":%.0f})"
                "\n",
                latencies_.size(), chunks_, errors_, seconds, percentile(firsts_, 0.5),
                percentile(firsts_, 0.99), percentile(latencies_, 0.5),
                percentile(latencies_, 0.99));
  }

 private:
  static constexpr double kGrace = 30;

  std::size_t open_more(std::size_t opened) {
    const double due = (seconds_now() - begin_) * plan_.connect_rate + 1;
    while (opened < clients_.size() && static_cast<double>(opened) < due) {
      Client& client = clients_[opened++];
      if (connect_to(client)) ask(client);
    }
    return opened;
  }

  bool connect_to(Client& client) {
    client.socket = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback(plan_.port);
    if (connect(client.socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ++errors_;
      close(client.socket);
      return false;
    }
    set_no_delay(client.socket);
    fcntl(client.socket, F_SETFL, O_NONBLOCK);
    watch(epoll_, client.socket, EPOLLIN, &client, EPOLL_CTL_ADD);
    ++live_;
    return true;
  }

  void ask(Client& client) {
    const int socket = client.socket;
    client = Client{};
    client.socket = socket;
    client.asked = seconds_now();
    const ssize_t sent = send(socket, plan_.request.data(), plan_.request.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(plan_.request.size())) ++errors_;
  }

  void read_all(int wait_ms) {
    epoll_event events[256];
    const int count = epoll_wait(epoll_, events, 256, wait_ms);
    for (int i = 0; i < count; ++i) read(*static_cast<Client*>(events[i].data.ptr));
  }

  void read(Client& client) {
    static char bytes[65536];
    const ssize_t got = recv(client.socket, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      ++errors_;
      return leave(client);
    }
    std::string_view part(bytes, static_cast<std::size_t>(got));
    if (!client.head_read) {
      client.head += part;
      if (!read_head(client)) return;
      part = client.head;
    }
    if (!part.empty() && take_body(client, part)) finish(client);
  }

  /// True once the head is whole; what is behind it is left in `head`.
  bool read_head(Client& client) {
    const std::size_t end = client.head.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    client.head_read = true;
    if (!client.head.starts_with("HTTP/1.1 200")) {
      if (errors_++ < 3) std::fprintf(stderr, "%.300s\n", client.head.c_str());
    }
    const char* field = strcasestr(client.head.c_str(), "\r\ncontent-length:");
    client.chunked = field == nullptr || field > client.head.c_str() + end;
    if (!client.chunked) client.length = std::strtoul(field + 17, nullptr, 10);
    client.head.erase(0, end + 4);
    return true;
  }

  /// True at the end of the body.
  bool take_body(Client& client, std::string_view part) {
    if (!client.first_seen) {
      client.first_seen = true;
      firsts_.push_back((seconds_now() - client.asked) * 1e6);
    }
    client.got += part.size();
    constexpr std::string_view kData = "data: ", kEnd = "0\r\n\r\n";
    std::string text = client.tail + std::string(part);
    for (std::size_t at = 0; (at = text.find(kData, at)) != text.npos; at += kData.size()) {
      ++chunks_;
    }
    const bool ended = client.chunked ? text.ends_with(kEnd) : client.got >= client.length;
    // Shorter than a mark, so that none is counted twice.
    client.tail = text.substr(text.size() - std::min(text.size(), kData.size() - 1));
    return ended;
  }

  void finish(Client& client) {
    latencies_.push_back((seconds_now() - client.asked) * 1e6);
    if (plan_.once || seconds_now() >= end_) return leave(client);
    ask(client);
  }

  void leave(Client& client) {
    close(client.socket);
    --live_;
  }

  static double percentile(std::vector<double>& values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size()));
    return values[std::min(at, values.size() - 1)];
  }

  const Plan plan_;
  int epoll_;
  std::vector<Client> clients_;
  double begin_ = 0, end_ = 0;
  long live_ = 0, chunks_ = 0, errors_ = 0;
  std::vector<double> firsts_, latencies_;
};

std::string request_of(const std::string& model, int max_tokens, bool stream) {
  const std::string body =
      R"({"model":")" + model +
      R"(","messages":[{"role":"system","content":"You are a helpful assistant."},)"
      R"({"role":"user","content":"Hello, how are you?"}],"max_tokens":)" +
      std::to_string(max_tokens) + R"(,"temperature":0.7)" + (stream ? R"(,"stream":true})" : "}");
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
         "Content-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace
}  // namespace troupe::bench

int main(int count, char** arguments) {
  using namespace troupe::bench;
  signal(SIGPIPE, SIG_IGN);
  raise_file_limit();
  const auto options = options_of(count, arguments);
  Plan plan;
  plan.port = number_or(options, "--port", 0);
  plan.connections = number_or(options, "--connections", 1);
  plan.seconds = number_or(options, "--seconds", 5);
  plan.stream = number_or(options, "--stream", 0) != 0;
  plan.once = number_or(options, "--once", 0) != 0;
  plan.connect_rate = number_or(options, "--connect-rate", 2000);
  const auto model = options.find("--model");
  plan.request = request_of(model == options.end() ? "mock" : model->second,
                            number_or(options, "--max-tokens", 200), plan.stream);
  Load load(std::move(plan));
  load.run();
  load.print();
}
