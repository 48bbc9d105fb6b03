#include "tools/admin/admin_client.hpp"

#include <rapidjson/document.h>

#include <future>

#include "runtime/http/client.hpp"
#include "runtime/http/url.hpp"

namespace troupe {

namespace {

/// What a refusal says.
struct Reason {
  std::string type;
  std::string message;
};

Reason reason_in(const std::string& body) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(body.c_str());
  const Reason unknown{"", body.substr(0, 200)};
  if (!document.IsObject() || !document.HasMember("error")) return unknown;
  const auto& error = document["error"];
  if (!error.IsObject() || !error.HasMember("message") || !error["message"].IsString()) {
    return unknown;
  }
  const bool typed = error.HasMember("type") && error["type"].IsString();
  return {typed ? error["type"].GetString() : "", error["message"].GetString()};
}

Error refusal_of(const AdminTarget& target, int status, const std::string& body) {
  const Reason reason = reason_in(body);
  const bool of_admin = reason.type == "admin_error";
  if (of_admin || (status != 404 && status != 405)) return {Code::kInvalid, reason.message};
  return {Code::kInvalid,
          "no admin port answers at " + target.url +
              "; if it is a node's HTTP port, the admin port is another one: 8001, or what "
              "node.admin_port (--admin-port) says; the node printed it when it started"};
}

}  // namespace

Result<std::string> admin_call(const AdminTarget& target, const std::string& method,
                               const std::string& path) {
  TROUPE_TRY_ASSIGN(const http::Url url, http::parse_url(target.url));
  http::Client client;
  http::ClientRequest request;
  request.host = url.host;
  request.port = url.port;
  request.method = method;
  request.path = path;
  request.total_timeout = seconds(5);
  if (!target.token.empty())
    request.headers.emplace_back("authorization", "Bearer " + target.token);
  int status = 0;
  std::string body;
  std::promise<Status> ended;
  client.start(std::move(request),
               {.on_headers = [&](int code, const http::Headers&) { status = code; },
                .on_data = [&](std::string_view bytes) { body.append(bytes); },
                .on_end = [&] { ended.set_value(ok_status()); },
                .on_error = [&](const Error& error) { ended.set_value(error); }});
  const Status result = ended.get_future().get();
  if (!result.ok()) {
    return Error{result.error().code,
                 "no node answers at " + target.url + " (" + result.error().message +
                     "); is it running, and is --url its admin port (node.admin_port)?"};
  }
  if (status < 200 || status > 299) return refusal_of(target, status, body);
  return body;
}

}  // namespace troupe
