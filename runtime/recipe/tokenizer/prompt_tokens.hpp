// A rendered prompt to token ids, on as many threads as the caller has.
//
// Each control range becomes the id of its exact spelling in the added vocabulary; the gaps between
// are encoded without the added vocabulary, each for itself: no merge crosses a range. Gaps do not
// depend on each other, and a long one is cut where the tokenizer says that it may be
// (word_cuts.hpp), so that a prompt of one long message keeps all threads busy too.
//
// Invariants:
//   1. The ids do not depend on the number of threads or on how jobs are scheduled.
//   2. Text in a gap never gives an id of the added vocabulary.
//   3. Of a tokenizer with add_bos(), the ids begin with one bos(), whether the prompt has it or
//   not.
//
// Source: recipe SPEC section 2 ("Prompt encoding"). Units: bytes of text. Threads: pure functions;
// jobs only read the prompt and the tokenizer and write to places of their own.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/recipe/conversation/rendered_prompt.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe::recipe {

/// Where jobs run: a node's compute pool, or threads of our own (run_on_threads).
struct Executor {
  /// Calls job(0) to job(count - 1), each once, at the same time or not, and returns when all have
  /// returned.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& job)> run;
  unsigned threads = 1;  ///< how many jobs run at the same time; 1: run is not used
};

/// Prompts shorter than two of these are not worth a second thread.
inline constexpr std::size_t kJobBytesMin = 16 * 1024;

/// kInvalid names the spelling that the vocabulary lacks, or a range that is not in the text.
Result<std::vector<TokenId>> encode_prompt(const Tokenizer& tokenizer, const RenderedPrompt& prompt,
                                           const Executor& executor,
                                           std::size_t job_bytes_min = kJobBytesMin);

/// On threads of its own, this one among them. Requires: threads > 0.
Result<std::vector<TokenId>> encode_prompt(const Tokenizer& tokenizer, const RenderedPrompt& prompt,
                                           unsigned threads = 1);

/// An executor that starts its threads at each call and ends them before it returns.
Executor run_on_threads(unsigned threads);

}  // namespace troupe::recipe
