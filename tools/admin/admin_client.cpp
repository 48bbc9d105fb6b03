#include "tools/admin/admin_client.hpp"

#include <rapidjson/document.h>

#include <future>

#include "runtime/http/client.hpp"
#include "runtime/http/url.hpp"

namespace troupe {

namespace {

std::string reason_in(const std::string& body) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(body.c_str());
  if (!document.IsObject() || !document.HasMember("error")) return body.substr(0, 200);
  const auto& error = document["error"];
  if (!error.IsObject() || !error.HasMember("message") || !error["message"].IsString()) return body;
  return error["message"].GetString();
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
  if (status < 200 || status > 299) return Error{Code::kInvalid, reason_in(body)};
  return body;
}

}  // namespace troupe
