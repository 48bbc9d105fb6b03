// SHA-256 of data that comes in pieces, and of whole files.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "runtime/base/result.hpp"

struct evp_md_ctx_st;

namespace troupe {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::span<const std::byte> data);
  /// 64 lower-case hex digits. Requires: called once, as the last call.
  std::string finish();

 private:
  evp_md_ctx_st* context_;
};

Result<std::string> sha256_of_file(const std::string& path);

}  // namespace troupe
