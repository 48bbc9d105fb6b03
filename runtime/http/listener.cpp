#include "runtime/http/listener.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>

namespace troupe::http {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

Error bind_error(const error_code& error, const std::string& host, std::uint16_t port) {
  const std::string number = std::to_string(port);
  if (error == boost::asio::error::address_in_use)
    return {Code::kUnavailable, "port " + number +
                                    " is in use: choose another with --port or stop the other "
                                    "process"};
  if (error == boost::asio::error::access_denied)
    return {Code::kIo,
            "port " + number + " needs privileges (it is below 1024): choose another with --port"};
  if (error.value() == EADDRNOTAVAIL)
    return {Code::kInvalid, host +
                                " is not an address of this machine: choose --host 127.0.0.1 "
                                "(this machine only) or 0.0.0.0 (all of its addresses)"};
  return {Code::kIo, "cannot listen on " + host + " port " + number + ": " + error.message()};
}

Result<tcp::endpoint> resolve(boost::asio::io_context& context, const std::string& host,
                              std::uint16_t port) {
  error_code error;
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(
      host, std::to_string(port), tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty())
    return Error{Code::kInvalid, "the host name " + host + " has no address: " + error.message()};
  return found.begin()->endpoint();
}

}  // namespace

Result<tcp::acceptor> bind_listener(boost::asio::io_context& context, const std::string& host,
                                    std::uint16_t port) {
  TROUPE_TRY_ASSIGN(const tcp::endpoint endpoint, resolve(context, host, port));
  tcp::acceptor acceptor(context);
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (error) return bind_error(error, host, port);
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6())
    acceptor.set_option(boost::asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(endpoint, error);
  if (error) return bind_error(error, host, port);
  return acceptor;
}

Status begin_listening(tcp::acceptor& acceptor, const std::string& host, std::uint16_t port) {
  error_code error;
  acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) return bind_error(error, host, port);
  return ok_status();
}

}  // namespace troupe::http
