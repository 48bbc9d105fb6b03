// A blocking TCP client that sends exactly the bytes of a test, with a deadline on every wait.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>

namespace troupe::http {

class RawSocket {
 public:
  static constexpr int kWaitMs = 5000;

  /// `receive_buffer` > 0 makes a reader whose window fills quickly.
  explicit RawSocket(std::uint16_t port, int receive_buffer = 0) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0)
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawSocket() { close(); }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  bool connected() const { return connected_; }
  int fd() const { return fd_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  /// Close with a reset instead of an end of stream.
  void reset() {
    const linger option{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &option, sizeof option);
    close();
  }
  void half_close() { ::shutdown(fd_, SHUT_WR); }

  /// Reads once; false at the end of stream, on a reset, or after the wait.
  bool read_some(int wait_ms = kWaitMs) {
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, wait_ms) <= 0) return timed_out_ = true, false;
    char buffer[16384];
    const auto count = ::recv(fd_, buffer, sizeof buffer, 0);
    if (count <= 0) return reset_ = count < 0, ended_ = true, false;
    received.append(buffer, static_cast<std::size_t>(count));
    return true;
  }
  bool read_until(std::string_view text, int wait_ms = kWaitMs) {
    while (received.find(text) == std::string::npos) {
      if (!read_some(wait_ms)) return false;
    }
    return true;
  }
  /// Everything until the server closes; false if it did not within the wait.
  bool read_to_end(int wait_ms = kWaitMs) {
    while (read_some(wait_ms)) {
    }
    return ended_;
  }

  bool was_reset() const { return reset_; }
  bool timed_out() const { return timed_out_; }
  int status() const {
    return received.size() >= 12 ? std::atoi(received.substr(9, 3).c_str()) : 0;
  }

  std::string received;

 private:
  int fd_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  bool reset_ = false;
  bool timed_out_ = false;
};

}  // namespace troupe::http
