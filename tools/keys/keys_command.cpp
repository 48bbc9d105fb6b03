#include "tools/keys/keys_command.hpp"

#include <openssl/rand.h>

#include <cstdio>
#include <memory>

#include "actors/gateway/api_keys.hpp"
#include "tools/cli/cli.hpp"

namespace troupe {

namespace {

struct NewOptions {
  TenantLimits limits;
  std::string priority = "normal";
};

int make_key(const NewOptions& options) {
  std::array<unsigned char, kNewKeyBytes> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    return cli::report({Code::kIo, "the system gives no random bytes"});
  }
  TenantLimits limits = options.limits;
  limits.priority = options.priority == "low"    ? Priority::kLow
                    : options.priority == "high" ? Priority::kHigh
                                                 : Priority::kNormal;
  const auto made = make_api_key(limits, random);
  if (!made.ok()) return cli::report(made.error());
  std::printf("key (for the client; it is shown only now):\n  %s\n", made->key.c_str());
  std::printf("entry (for gateway.api_keys):\n  %s\n", made->entry.c_str());
  return cli::kOk;
}

}  // namespace

void add_keys_command(cli::Command& program) {
  cli::Command keys = program.command("keys", "API keys of the gateway");
  keys.require_command();
  cli::Command made = keys.command("new", "Make a key, and the entry that lets it in");
  auto options = std::make_shared<NewOptions>();
  made.option("NAME", options->limits.name, "whose key it is").required();
  made.option("--rate", options->limits.requests_per_minute, "requests a minute; 0: no limit");
  made.option("--concurrent", options->limits.concurrent, "requests at one time; 0: no limit");
  made.option("--priority", options->priority, "who gets the last places of a full gateway")
      .one_of({"low", "normal", "high"})
      .show_default();
  made.run([options] { return make_key(*options); });
}

}  // namespace troupe
