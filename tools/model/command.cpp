#include "tools/model/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "runtime/base/assert.hpp"

extern char** environ;

namespace troupe {
namespace {

constexpr std::size_t kOutputMax = 8 * 1024;

/// Starts the program with its output in `write_end`; 0 or an errno.
int spawn(const std::vector<std::string>& arguments, int write_end, pid_t& child) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, write_end, STDERR_FILENO);
  const int result = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return result;
}

/// Reads until the program closes its output; false if the deadline came first.
bool drain(int read_end, std::chrono::steady_clock::time_point end, std::string& output) {
  char buffer[4096];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{.fd = read_end, .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, static_cast<int>(std::min<long>(left.count(), 1000))) <= 0) continue;
    const ssize_t count = ::read(read_end, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    output.append(buffer, static_cast<std::size_t>(count));
    if (output.size() > kOutputMax) output.erase(0, output.size() - kOutputMax);
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<CommandResult> run_command(const std::vector<std::string>& arguments, Duration deadline) {
  TROUPE_ASSERT(!arguments.empty(), "a command has a name");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{Code::kIo, std::string("cannot make a pipe: ") + std::strerror(errno)};
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(deadline.value);
  pid_t child = -1;
  const int failure = spawn(arguments, ends[1], child);
  ::close(ends[1]);
  if (failure != 0) {
    ::close(ends[0]);
    return Error{failure == ENOENT ? Code::kNotFound : Code::kIo,
                 "cannot start " + arguments[0] + ": " + std::strerror(failure)};
  }
  CommandResult result;
  const bool finished = drain(ends[0], end, result.output);
  ::close(ends[0]);
  if (!finished) ::kill(child, SIGKILL);
  result.exit_code = wait_for(child);
  if (!finished) {
    return Error{Code::kDeadline, arguments[0] + " did not end within " +
                                      std::to_string(deadline.value / 1'000'000'000) +
                                      " s and was killed"};
  }
  return result;
}

}  // namespace troupe
