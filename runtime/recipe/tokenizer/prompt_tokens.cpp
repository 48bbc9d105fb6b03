#include "runtime/recipe/tokenizer/prompt_tokens.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe::recipe {
namespace {

/// Jobs a thread: more of them even out that some texts take longer than others.
constexpr std::size_t kJobsPerThread = 4;

/// English has about four bytes a token, Chinese fewer.
constexpr std::size_t kBytesPerToken = 3;

/// A control token, or text if it is not empty.
struct Piece {
  std::string_view text;
  TokenId control{0};
};

Result<std::vector<Piece>> pieces_of(const Tokenizer& tokenizer, const RenderedPrompt& prompt) {
  const std::string_view text = prompt.text;
  std::vector<Piece> pieces;
  pieces.reserve(prompt.specials.size() * 2 + 1);
  std::size_t start = 0;
  for (const ByteRange& range : prompt.specials) {
    if (range.begin < start || range.end <= range.begin || range.end > text.size()) {
      return Error{Code::kInvalid, "the control range " + std::to_string(range.begin) + " to " +
                                       std::to_string(range.end) + " is not one of the prompt"};
    }
    if (range.begin > start) pieces.push_back({text.substr(start, range.begin - start)});
    const std::string_view spelling = text.substr(range.begin, range.end - range.begin);
    const auto id = tokenizer.added_token(spelling);
    if (!id) {
      return Error{Code::kInvalid, "failed to encode conversation: special token \"" +
                                       excerpt(spelling, 64) + "\" is not in the added vocabulary"};
    }
    pieces.push_back({{}, *id});
    start = range.end;
  }
  if (start < text.size()) pieces.push_back({text.substr(start)});
  const auto first = tokenizer.add_bos() ? tokenizer.bos() : std::nullopt;
  const bool begun =
      first && !pieces.empty() && pieces.front().text.empty() && pieces.front().control == *first;
  if (first && !begun) pieces.insert(pieces.begin(), Piece{{}, *first});
  return pieces;
}

void encode_pieces(const Tokenizer& tokenizer, std::span<const Piece> pieces,
                   std::vector<TokenId>& ids) {
  for (const Piece& piece : pieces) {
    if (piece.text.empty()) {
      ids.push_back(piece.control);
    } else {
      tokenizer.encode_plain(piece.text, ids);
    }
  }
}

/// Pieces that one job encodes, and what came of them.
struct Job {
  std::vector<Piece> pieces;
  std::vector<TokenId> ids;
};

/// Deals the pieces out to jobs of about `job_bytes` in their order, cutting long ones.
std::vector<Job> deal_out(const Tokenizer& tokenizer, std::span<const Piece> pieces,
                          std::size_t job_bytes) {
  std::vector<Job> jobs(1);
  std::size_t room = job_bytes;
  for (Piece piece : pieces) {
    if (piece.text.empty()) jobs.back().pieces.push_back(piece);
    while (!piece.text.empty()) {
      if (room == 0) {
        jobs.emplace_back();
        room = job_bytes;
      }
      const std::size_t size =
          piece.text.size() <= room ? piece.text.size() : tokenizer.cut_after(piece.text, room);
      jobs.back().pieces.push_back({piece.text.substr(0, size)});
      piece.text.remove_prefix(size);
      room -= std::min(room, size);
    }
  }
  return jobs;
}

/// The ids of all jobs in their order. Those of the first stay where they are.
std::vector<TokenId> joined(std::span<Job> jobs) {
  std::vector<TokenId> ids = std::move(jobs.front().ids);
  for (const Job& job : jobs.subspan(1)) ids.insert(ids.end(), job.ids.begin(), job.ids.end());
  return ids;
}

}  // namespace

Result<std::vector<TokenId>> encode_prompt(const Tokenizer& tokenizer, const RenderedPrompt& prompt,
                                           const Executor& executor, std::size_t job_bytes_min) {
  TROUPE_ASSERT(job_bytes_min > 0 && executor.threads > 0, "jobs have text and somewhere to run");
  TROUPE_TRY_ASSIGN(const std::vector<Piece> pieces, pieces_of(tokenizer, prompt));
  const std::size_t bytes = prompt.text.size();
  if (executor.threads == 1 || bytes < 2 * job_bytes_min) {
    std::vector<TokenId> ids;
    ids.reserve(bytes / kBytesPerToken + pieces.size());
    encode_pieces(tokenizer, pieces, ids);
    return ids;
  }
  const std::size_t job_bytes =
      std::max(job_bytes_min, bytes / (executor.threads * kJobsPerThread) + 1);
  std::vector<Job> jobs = deal_out(tokenizer, pieces, job_bytes);
  executor.run(jobs.size(), [&](std::size_t i) {
    // The first also takes in what the others made (joined()).
    const std::size_t job_or_all =
        i == 0 ? bytes + pieces.size() : job_bytes + jobs[i].pieces.size();
    jobs[i].ids.reserve(job_or_all / kBytesPerToken);
    encode_pieces(tokenizer, jobs[i].pieces, jobs[i].ids);
  });
  return joined(jobs);
}

Executor run_on_threads(unsigned threads) {
  TROUPE_ASSERT(threads > 0, "the calling thread is one");
  const auto run = [threads](std::size_t count, const std::function<void(std::size_t)>& job) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < count; i = next++) job(i);
    };
    std::vector<std::thread> helpers;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
      helpers.emplace_back(work);
    }
    work();
    for (std::thread& helper : helpers) helper.join();
  };
  return {run, threads};
}

Result<std::vector<TokenId>> encode_prompt(const Tokenizer& tokenizer, const RenderedPrompt& prompt,
                                           unsigned threads) {
  return encode_prompt(tokenizer, prompt, run_on_threads(threads));
}

}  // namespace troupe::recipe
