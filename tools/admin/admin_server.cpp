#include "tools/admin/admin_server.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <future>

#include "actors/gateway/answer_id.hpp"
#include "actors/gateway/gateway_messages.hpp"
#include "runtime/recipe/text/api_error.hpp"
#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {

namespace {

constexpr Duration kAnswerWithin = seconds(1);
constexpr std::size_t kQuestionsMax = 64;  ///< that wait

http::Response json_response(int status, std::string body) {
  return {status, {{"content-type", "application/json"}}, std::move(body)};
}

http::Response error_answer(int status, std::string code, std::string message) {
  ApiError error;
  error.status = status;
  error.type = "admin_error";
  error.code = std::move(code);
  error.message = std::move(message);
  return json_response(status, error_body(error));
}

/// The server's advice names the flag of the HTTP port.
Error about_port(const Error& error) {
  constexpr std::string_view kFlag = "--port";
  std::string text = error.message;
  if (const auto at = text.find(kFlag); at != std::string::npos) {
    text.replace(at, kFlag.size(), "--admin-port");
  }
  return {error.code, "admin port: " + text + " (--admin-port 0 turns it off)"};
}

/// "7f3a…-2": id and life, fit for a path.
std::string hex_id(const ActorRef& ref) {
  std::string text = to_string(ref);  // node.incarnation/id#life
  text.erase(0, text.find('/') + 1);
  std::replace(text.begin(), text.end(), '#', '-');
  return text;
}

constexpr const char* kCancelling = R"({"status":"cancelling"})";
constexpr const char* kByOperator = "by an operator";

void write_actor(JsonWriter& json, const ActorSnapshot& actor) {
  json.open_object();
  json.key("id").text(hex_id(actor.ref));
  json.key("kind").text(actor.kind);
  json.key("phase").text(actor.phase);
  json.key("parent").text(actor.parent ? hex_id(actor.parent) : "");
  json.key("request").text(to_string(actor.subject));
  json.key("mailbox").number(actor.mailbox);
  json.key("in").number(actor.in);
  json.key("out").number(actor.out);
  json.key("done").number(actor.done);
  json.key("busy_ms").real(actor.busy.milliseconds());
  json.key("longest_us").real(static_cast<double>(actor.longest.value) / 1000);
  json.close_object();
}

/// By the beginning of an id, by a kind, or by the id that a request's client sees: the first of
/// these that finds any.
std::vector<ActorSnapshot> find_actors(const std::vector<ActorSnapshot>& all,
                                       const std::string& name) {
  std::vector<ActorSnapshot> by_id, by_kind, by_request;
  for (const auto& actor : all) {
    if (hex_id(actor.ref).starts_with(name)) by_id.push_back(actor);
    if (actor.kind == name) by_kind.push_back(actor);
    const auto id = actor.subject.number == 0 ? std::nullopt : request_of(name);
    if (id && id->value == actor.subject.number) by_request.push_back(actor);
  }
  return !by_id.empty() ? by_id : !by_kind.empty() ? by_kind : by_request;
}

}  // namespace

AdminServer::AdminServer(std::unique_ptr<http::Server> bound, ActorSystem& system, ActorRef root,
                         AdminOptions options)
    : system_(system),
      root_(root),
      options_(std::move(options)),
      questions_(std::make_unique<JobThread>(kQuestionsMax)),
      server_(std::move(bound)) {}

Result<std::unique_ptr<http::Server>> AdminServer::bind(std::uint16_t port) {
  auto server = http::Server::bind("127.0.0.1", port, http::Limits{});
  if (!server.ok()) return about_port(server.error());
  return server;
}

Result<std::unique_ptr<AdminServer>> AdminServer::start(std::unique_ptr<http::Server> bound,
                                                        ActorSystem& system, ActorRef root,
                                                        AdminOptions options) {
  std::unique_ptr<AdminServer> admin(
      new AdminServer(std::move(bound), system, root, std::move(options)));
  const Status started = admin->server_->start(*admin);
  if (!started.ok()) return about_port(started.error());
  return admin;
}

AdminServer::~AdminServer() {
  stop();
}

void AdminServer::stop() {
  if (server_) server_->shutdown(seconds(1));
  questions_.reset();
}

bool AdminServer::allowed(const http::Request& request) const {
  if (options_.token.empty()) return true;
  const std::string_view given = http::find_header(request.headers, "authorization");
  const std::string wanted = "Bearer " + options_.token;
  return given.size() == wanted.size() &&
         CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
}

void AdminServer::on_request(http::SessionId session, http::Request request) {
  constexpr std::string_view kActors = "/admin/actors/";
  constexpr std::string_view kRequests = "/admin/requests/";
  constexpr std::string_view kCancel = "/cancel";
  const std::string& path = request.path;
  if (!allowed(request)) {
    return server_->respond(
        session, error_answer(401, "unauthorized", "the admin token is missing or wrong"));
  }
  if (request.method == "GET" && path.starts_with(kActors)) {
    return show(session, path.substr(kActors.size()));
  }
  if (request.method == "POST" && path.starts_with(kRequests) && path.ends_with(kCancel) &&
      path.size() > kRequests.size() + kCancel.size()) {
    return cancel(session,
                  path.substr(kRequests.size(), path.size() - kRequests.size() - kCancel.size()));
  }
  server_->respond(session, answer(request));
}

http::Response AdminServer::answer(const http::Request& request) {
  const std::string& path = request.path;
  const bool get = request.method == "GET", post = request.method == "POST";
  if (get && path == "/admin/actors") return json_response(200, actors_body());
  if (get && path == "/metrics") {
    return {200, {{"content-type", "text/plain; version=0.0.4"}}, options_.metrics()};
  }
  if (get && path == "/admin/nodes") return json_response(200, nodes_body());
  if (post && path == "/admin/drain") {
    options_.drain();
    return json_response(202, R"({"status":"draining"})");
  }
  return error_answer(404, "not_found", "there is no " + request.method + " " + path);
}

std::string AdminServer::actors_body() const {
  JsonWriter json;
  json.open_object().key("actors").open_array();
  for (const auto& actor : system_.list()) write_actor(json, actor);
  json.close_array().close_object();
  return json.take();
}

std::string AdminServer::nodes_body() const {
  JsonWriter json;
  json.open_object().key("nodes").open_array();
  json.open_object();
  json.key("node").number(std::uint64_t{root_.node.value});
  json.key("incarnation").number(std::uint64_t{root_.incarnation});
  json.key("address").text("this node");
  json.key("state").text(system_.alive(root_) ? "up" : "ending");
  json.key("roles").text(options_.roles);
  json.key("about").text(options_.about);
  json.key("actors").number(std::uint64_t{system_.actor_count()});
  json.close_object();
  for (const auto& peer : options_.peers ? options_.peers() : std::vector<AdminPeer>{}) {
    json.open_object();
    json.key("node").number(std::uint64_t{peer.root.node.value});
    json.key("incarnation").number(std::uint64_t{peer.root.incarnation});
    json.key("address").text(peer.address);
    json.key("state").text(peer.state);
    json.key("roles").text(peer.roles);
    json.key("about").text(peer.about);
    json.close_object();
  }
  json.close_array().close_object();
  return json.take();
}

void AdminServer::show(http::SessionId session, const std::string& id) {
  const auto found = find_actors(system_.list(), id);
  if (found.empty() || id.empty()) {
    return server_->respond(
        session, error_answer(404, "not_found",
                              "no actor has the id or kind " + id + ", and no request that id"));
  }
  if (found.size() > 1) {
    return server_->respond(session,
                            error_answer(400, "ambiguous",
                                         std::to_string(found.size()) + " actors are called " + id +
                                             "; name one by its id (troupe admin ps)"));
  }
  const ActorSnapshot actor = found.front();
  ask(session, [this, session, actor] {
    const auto said = system_.describe(actor.ref, kAnswerWithin);
    JsonWriter json;
    json.open_object().key("actor");
    write_actor(json, actor);
    json.key("state").text(said.ok() ? *said
                                     : "(it did not answer: " + to_string(said.error()) + ")");
    json.close_object();
    server_->respond(session, json_response(200, json.take()));
  });
}

void AdminServer::ask(http::SessionId session, std::function<void()> question) {
  if (!questions_->run(std::move(question))) {
    server_->respond(session, error_answer(503, "busy", "too many questions at once; try again"));
  }
}

void AdminServer::cancel(http::SessionId session, const std::string& text) {
  ActorRef gateway;
  for (const auto& actor : system_.list()) {
    if (hex_id(actor.ref) == text && std::string_view(actor.kind) == "request") {
      system_.send(ActorRef{}, actor.ref,
                   make_message<CancelRequest>(RequestId(0), std::string(kByOperator)));
      return server_->respond(session, json_response(202, kCancelling));
    }
    if (std::string_view(actor.kind) == "gateway") gateway = actor.ref;
  }
  const auto id = request_of(text);
  if (!id) {
    return server_->respond(
        session,
        error_answer(404, "not_found",
                     "no request is called " + text +
                         "; name its chatcmpl-, resp_ or msg_ id, its number, or the id of `ps`"));
  }
  if (!gateway) {
    return server_->respond(
        session, error_answer(404, "not_found", "this node has no gateway; cancel at its node"));
  }
  ask(session, [this, session, gateway, id = *id, text] {
    server_->respond(session, cancel_at(gateway, id, text));
  });
}

http::Response AdminServer::cancel_at(const ActorRef& gateway, RequestId id,
                                      const std::string& text) {
  auto told = std::make_shared<std::promise<bool>>();
  auto answer = told->get_future();
  const ActorRef inbox = system_.open_endpoint([told, id](const Envelope& envelope) {
    const auto* heard = envelope.message.as<CancelAnswered>();
    if (heard != nullptr && heard->request == id) told->set_value(heard->found);
  });
  system_.send(inbox, gateway, make_message<CancelRequest>(id, std::string(kByOperator)));
  const auto state = answer.wait_for(std::chrono::nanoseconds(kAnswerWithin.value));
  system_.close_endpoint(inbox);
  if (state != std::future_status::ready) {
    return error_answer(503, "busy", "the gateway did not answer within a second; try again");
  }
  if (answer.get()) return json_response(202, kCancelling);
  return error_answer(404, "not_found", "no request " + text + " is under way; it may have ended");
}

}  // namespace troupe
