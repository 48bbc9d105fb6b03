#include "tools/chat/chat_command.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "runtime/observe/log.hpp"
#include "tools/chat/chat_session.hpp"
#include "tools/cli/cli.hpp"
#include "tools/node/serving_node.hpp"

namespace troupe {

namespace {

struct ChatFlags {
  std::string url;
  std::string model_file;
  ChatSettings settings;
  std::string once;
};

/// The session whose answer Ctrl-C ends; interrupt() only sets a flag, which a handler may do.
std::atomic<ChatSession*> interruptible{nullptr};

void on_interrupt(int) {
  if (ChatSession* session = interruptible.load()) {
    session->interrupt();
  } else {
    std::_Exit(130);
  }
}

int answer(ChatSession& session, const std::string& text) {
  interruptible = &session;
  bool any = false;
  const auto stats = session.ask(text, [&any](std::string_view piece) {
    any = true;
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
  });
  interruptible = nullptr;
  if (any) std::printf("\n");
  std::fflush(stdout);
  if (!stats.ok()) return cli::report(stats.error());
  if (stats->interrupted) {
    std::printf("[interrupted]\n");
    return cli::kOk;
  }
  const double decode = (stats->total - stats->first_token).seconds();
  std::fprintf(
      stderr, "[TTFT %.0f ms, %.1f tokens/s, %llu tokens]\n", stats->first_token.milliseconds(),
      decode > 0 && stats->tokens > 1 ? static_cast<double>(stats->tokens - 1) / decode : 0.0,
      static_cast<unsigned long long>(stats->tokens));
  return cli::kOk;
}

int talk(ChatSession& session) {
  const bool terminal = isatty(STDIN_FILENO) != 0;
  if (terminal) {
    std::printf("Ctrl-C ends an answer, /reset forgets the conversation, /quit ends.\n");
  }
  int code = cli::kOk;
  std::string line;
  for (;;) {
    if (terminal) {
      std::printf("> ");
      std::fflush(stdout);
    }
    if (!std::getline(std::cin, line) || line == "/quit") break;
    if (line.empty()) continue;
    if (line == "/reset") {
      session.reset();
      std::printf("[the conversation is forgotten]\n");
      continue;
    }
    if (line.front() == '/') {
      std::printf("[unknown command %s; there are /reset and /quit]\n", line.c_str());
      continue;
    }
    code = answer(session, line);
  }
  return terminal ? cli::kOk : code;
}

int chat(const ChatFlags& flags) {
  std::unique_ptr<ServingNode> own;
  std::string url = flags.url;
  if (url.empty()) {
    config::NodeConfig config;
    config.node.port = 0;
    config.node.admin_port = 0;
    config.model.path = flags.model_file;
    logging::start("warn", false);
    std::fprintf(stderr, "starting a node of its own (--url talks to a running one)\n");
    auto started = ServingNode::start(config);
    if (!started.ok()) return cli::report(started.error());
    own = std::move(*started);
    url = "http://127.0.0.1:" + std::to_string(own->port());
  }
  const auto parsed = http::parse_url(url);
  if (!parsed.ok()) return cli::report(parsed.error());
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, on_interrupt);
  ChatSession session(*parsed, flags.settings);
  const int code = flags.once.empty() ? talk(session) : answer(session, flags.once);
  if (own && !own->stop(Duration())) std::_Exit(code);
  return code;
}

}  // namespace

void add_chat_command(cli::Command& program) {
  auto flags = std::make_shared<ChatFlags>();
  cli::Command command = program.command("chat", "Talk to a model");
  command.option("--url", flags->url, "A running node; without it one is started here");
  command.option("--model", flags->model_file,
                 "GGUF file or known name for the node that is started here");
  command.option("--served-model-name", flags->settings.model,
                 "Model id to ask for; default: the server's own");
  command.option("--system", flags->settings.system, "System message");
  command.option("--temperature", flags->settings.temperature, "0 to 2")
      .between(0, 2)
      .show_default();
  command.option("--max-tokens", flags->settings.max_tokens, "Longest answer; 0: no limit")
      .between(0, 1 << 24);
  command.option("--timeout", flags->settings.timeout, "Seconds that an answer may take")
      .between(0.001, 86400)
      .show_default();
  command.option("MESSAGE", flags->once, "Say this, print the answer, end");
  command.run([flags] { return chat(*flags); });
}

}  // namespace troupe
