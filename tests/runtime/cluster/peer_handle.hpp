// A child process that is a node (peer_process.cpp), as the live test sees it.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace troupe {

inline std::int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

class PeerHandle {
 public:
  explicit PeerHandle(std::vector<std::string> words) {
    words.insert(words.begin(), CLUSTER_PEER);
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      std::vector<char*> args;
      for (auto& word : words) args.push_back(word.data());
      args.push_back(nullptr);
      execv(args[0], args.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  PeerHandle(const PeerHandle&) = delete;
  PeerHandle& operator=(const PeerHandle&) = delete;
  ~PeerHandle() {
    if (pid_ > 0 && !ended_) {
      signal(SIGKILL);
      wait_end(5000);
    }
    close(to_);
    close(from_);
  }

  void signal(int number) const { kill(pid_, number); }
  void say(std::string line) const {
    line += '\n';
    [[maybe_unused]] const auto written = write(to_, line.data(), line.size());
  }

  /// The next line that holds `text`, behind the last one that was waited for; "" after `ms`.
  std::string wait(const std::string& text, std::int64_t ms = 20'000) {
    for (const std::int64_t until = now_ms() + ms;;) {
      for (; next_ < lines_.size(); ++next_) {
        if (lines_[next_].find(text) != std::string::npos) return lines_[next_++];
      }
      if (now_ms() >= until || !read_some(until - now_ms())) return "";
    }
  }
  /// Whether it has said `text` at any time, or does within `ms`.
  bool says(const std::string& text, std::int64_t ms = 20'000) {
    for (const std::int64_t until = now_ms() + ms;;) {
      if (this->text().find(text) != std::string::npos) return true;
      if (now_ms() >= until || !read_some(until - now_ms())) return false;
    }
  }
  /// The exit status, or -1 if it still runs after `ms`; -2 if a signal ended it.
  int wait_end(std::int64_t ms) {
    for (const std::int64_t until = now_ms() + ms; now_ms() < until; usleep(2000)) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) != pid_) continue;
      ended_ = true;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    }
    return -1;
  }
  /// All that it said.
  std::string text() const {
    std::string all;
    for (const auto& line : lines_) all += "  " + line + "\n";
    return all;
  }

 private:
  bool read_some(std::int64_t ms) {
    pollfd waiting{from_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(ms)) <= 0) return true;
    char buffer[4096];
    const auto got = read(from_, buffer, sizeof buffer);
    if (got <= 0) return false;
    partial_.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = partial_.find('\n')) != std::string::npos;) {
      lines_.push_back(partial_.substr(0, end));
      partial_.erase(0, end + 1);
    }
    return true;
  }

  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  bool ended_ = false;
  std::string partial_;
  std::vector<std::string> lines_;
  std::size_t next_ = 0;
};

/// The number behind the last space: the time at which an event was written.
inline std::int64_t time_of(const std::string& line) {
  return line.empty() ? 0 : std::atoll(line.c_str() + line.rfind(' ') + 1);
}

}  // namespace troupe
