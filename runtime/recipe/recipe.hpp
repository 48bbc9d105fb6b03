// The whole library, for a program that uses nothing else of Troupe: link troupe_recipe, include
// this. docs/recipe.md is its page; tests/runtime/recipe/library/example.cpp a program of thirty
// lines that goes all the way.
//
// A request, in four steps:
//
//   1. convert_request(protocol, body, options)   → ConversationRequest, or RequestError, which
//                                                   error_body() writes as the client expects it
//   2. make_encoding(name, pack)->render(conversation)       → RenderedPrompt: text and ranges
//   3. encode_prompt(tokenizer, prompt, threads)              → token ids
//   4. resolve_max_tokens(request, prompt tokens, context)    → how many tokens to generate
//
// An answer: a StreamProcessor made of request.parsing and request.answer takes the engine's
// chunks (ready, tokens or text, finish) and calls an EventSink with the protocol's events, or
// gives one body (Delivery::kBody). done_data() ends a stream of Chat.
//
// Made once and shared by all requests: the tokenizer (load_tokenizer_file), the prompt pack
// (load_prompt_pack), the encoding, the options. All are immutable; any thread may use them. A
// StreamProcessor belongs to one answer and has one owner at a time.
//
// No function throws because of input: bad requests are RequestErrors, bad files are Errors, and
// no bytes from a client or a model end the program. Nothing here reads a clock or is random: times
// and seeds come in with Identity.
#pragma once

#include "runtime/recipe/conversation/conversation.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/conversation/rendered_prompt.hpp"
#include "runtime/recipe/encoding/encoding.hpp"
#include "runtime/recipe/encoding/prompt_pack.hpp"
#include "runtime/recipe/request/error_body.hpp"
#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/stream/chunk.hpp"
#include "runtime/recipe/stream/stream_processor.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"
#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"
#include "runtime/recipe/tokenizer/prompt_tokens.hpp"
