// Binding a listening socket, with errors that say what to do. Internal.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

#include "runtime/base/result.hpp"

namespace troupe::http {

Result<boost::asio::ip::tcp::acceptor> open_listener(boost::asio::io_context& context,
                                                     const std::string& host, std::uint16_t port);

}  // namespace troupe::http
