// What lies in the mailbox of a live actor: an envelope, and what the host must know about it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/actor/envelope.hpp"

namespace troupe {

enum class MailKind : std::uint8_t {
  kMessage,     ///< for the core
  kWake,        ///< nothing to read: look at the orders (start, end)
  kTimer,       ///< key: which arming of the tag; a replaced or cancelled one is dropped
  kDone,        ///< key: the OpId; only the first for an op is delivered
  kChildEnded,  ///< a Down about a child: leaves the list of children first
  kDescribe,    ///< inquiry: answered by the actor itself
  kWatch,       ///< somebody lets it watch envelope.from
  kUnwatch,     ///< and no longer
};

/// Whoever asks an actor to describe itself, and waits.
using Inquiry = std::function<void(Result<std::string>)>;

struct Mail {
  Envelope envelope;
  MailKind kind = MailKind::kMessage;
  std::uint64_t key = 0;
  std::shared_ptr<Inquiry> inquiry;
};

/// What is needed to send a mail back, without holding its message.
struct ReturnSlip {
  explicit ReturnSlip(const Mail& mail)
      : from(mail.envelope.from),
        to(mail.envelope.to),
        message_kind(mail.envelope.message ? mail.envelope.message.kind() : std::uint16_t{0}),
        kind(mail.kind),
        inquiry(mail.inquiry) {}

  ActorRef from;
  ActorRef to;
  std::uint16_t message_kind;
  MailKind kind;
  std::shared_ptr<Inquiry> inquiry;
};

}  // namespace troupe
