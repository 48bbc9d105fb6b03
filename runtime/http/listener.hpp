// A listening socket in two steps, with errors that say what to do. Internal.
//
// A bound socket holds the port against whoever listens there; it refuses clients until it listens.
// Of two processes that are both bound, the second to listen is refused.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

#include "runtime/base/result.hpp"

namespace troupe::http {

Result<boost::asio::ip::tcp::acceptor> bind_listener(boost::asio::io_context& context,
                                                     const std::string& host, std::uint16_t port);
/// `host` and `port` are for the error.
Status begin_listening(boost::asio::ip::tcp::acceptor& acceptor, const std::string& host,
                       std::uint16_t port);

}  // namespace troupe::http
