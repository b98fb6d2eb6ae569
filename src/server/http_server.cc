#include "server/http_server.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include "server/address_tokens.h"
#include "server/admission.h"
#include "server/api/api.h"
#include "server/assets.h"
#include "server/http_listener.h"
#include "server/socket_io.h"

namespace steplens::server {
namespace {

constexpr int kFirstUsualPort = 18811;
constexpr int kUsualPorts = 10;
constexpr auto kHeartbeat = std::chrono::seconds(15);
constexpr std::string_view kApi = "/api/v1";

// A browser keeps settings, markers and what was looked at by address, port included: a port that
// is the same every time lets it find them again.
HttpListener::Bound BindToFreePort(const std::string& host) {
  for (int port = kFirstUsualPort; port < kFirstUsualPort + kUsualPorts; ++port) {
    const HttpListener::Bound bound = HttpListener::Bind(host, port);
    if (bound.fd >= 0) return bound;
  }
  return HttpListener::Bind(host, 0);
}

Response AssetResponse(const Assets& assets, const HttpRequest& in) {
  const bool accepts_gzip = in.Header("accept-encoding").find("gzip") != std::string_view::npos;
  std::optional<Asset> asset = assets.Find(in.path, accepts_gzip);
  if (!asset) return ErrorResponse(404, "not_found", "there is no such file");
  Response out;
  out.content_type = asset->content_type;
  out.headers = {
      {"ETag", asset->etag},
      {"Vary", "Accept-Encoding"},
      {"Cache-Control", asset->is_immutable ? "public, max-age=31536000, immutable" : "no-cache"}};
  if (in.Header("if-none-match") == asset->etag) {
    out.status = 304;
    return out;
  }
  if (asset->is_gzip) out.headers.emplace_back("Content-Encoding", "gzip");
  out.body = std::move(asset->body);
  return out;
}

// What answering takes on this thread.
class Stopwatch {
 public:
  std::string Timing() const {
    return fmt::format("cpu;dur={:.3f}, total;dur={:.3f}", NowMs(CLOCK_THREAD_CPUTIME_ID) - cpu_ms_,
                       NowMs(CLOCK_MONOTONIC) - wall_ms_);
  }

 private:
  static double NowMs(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
  }
  double cpu_ms_ = NowMs(CLOCK_THREAD_CPUTIME_ID);
  double wall_ms_ = NowMs(CLOCK_MONOTONIC);
};

RequestHead AdmissionHeadOf(const HttpRequest& in) {
  return {in.method,
          in.path,
          in.Header("host"),
          in.Header("origin"),
          in.Header("cookie"),
          in.Header("x-steplens-token"),
          in.Header("x-steplens"),
          in.Header("content-type"),
          in.Header("sec-fetch-site"),
          in.Header("sec-fetch-mode")};
}

// Leads from an address with a token to one without. A page of another site (a link in a chat, our
// own file that opens the browser) stays the origin of what it redirects to, and its requests are
// refused, and our own page continues.
Result<Response> ForwardedTo(const RequestHead& head, std::string_view frame_ancestors) {
  Response out;
  out.content_type = "text/html; charset=utf-8";
  if (head.fetch_site != "cross-site" && head.fetch_site != "same-site") {
    out.status = 302;
    out.headers.emplace_back("Location", "./");
    return out;
  }
  SL_ASSIGN_OR_RETURN(const std::string nonce, MakeToken());
  out.headers.emplace_back("Content-Security-Policy",
                           fmt::format("default-src 'none'; script-src 'nonce-{}'; base-uri "
                                       "'none'; frame-ancestors {}",
                                       nonce, frame_ancestors));
  out.body = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><title>steplens</title>"
      "<script nonce=\"{}\">location.replace(\"./\" + location.hash)</script>\n",
      nonce);
  return out;
}

}  // namespace

struct HttpServer::Impl {
  Impl(Workspace& to_show, HttpOptions with)
      : workspace(to_show), options(std::move(with)), api(to_show), assets(options.assets_folder) {}

  std::optional<Response> Admit(const HttpRequest& in);
  Response Login(const HttpRequest& in, const RequestHead& head);
  Response Answer(HttpRequest in, std::function<bool()> is_gone);
  Response Page(const HttpRequest& in);
  Response Events();

  Workspace& workspace;
  HttpOptions options;
  Api api;
  Assets assets;
  Admission admission;
  AddressTokens tokens;
  int port = 0;
  std::unique_ptr<HttpListener> sockets;
};

// A token in the address becomes a cookie, and leaves the address.
Response HttpServer::Impl::Login(const HttpRequest& in, const RequestHead& head) {
  const bool is_known = HasSecret(head, admission);  // another tab of a browser that is in
  if (!is_known && !tokens.Spend(in.query.find("token")->second))
    return ErrorResponse(401, "no_token", "the token of this address is wrong, or has been used",
                         "open the newest address that steplens printed");
  Result<Response> out = ForwardedTo(head, options.in_frame ? kLocalPages : kNoPages);
  if (!out.ok()) return ErrorResponse(out.error());
  if (!is_known)
    out->headers.emplace_back("Set-Cookie", fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/",
                                                        admission.cookie, admission.secret));
  return *std::move(out);
}

std::optional<Response> HttpServer::Impl::Admit(const HttpRequest& in) {
  const RequestHead head = AdmissionHeadOf(in);
  const bool is_login = in.method == "GET" && in.path == "/" && in.query.contains("token") &&
                        !admission.secret.empty();
  if (std::optional<Response> refusal = Refuse(head, admission, is_login)) return refusal;
  if (is_login) return Login(in, head);
  return std::nullopt;
}

Response HttpServer::Impl::Events() {
  auto joined = workspace.events().Listen();
  if (!joined) return ErrorResponse(503, "overloaded", "too many pages listen for events");
  // Leaves when the stream ends, however that comes.
  const std::shared_ptr<EventHub::Listener> listener(
      joined.get(), [this, joined](EventHub::Listener*) { workspace.events().Leave(joined); });
  Response out;
  out.content_type = "text/event-stream";
  out.stream = [listener,
                last = std::chrono::steady_clock::time_point()](std::string& text) mutable {
    if (listener->is_closed()) return false;
    if (const auto event = listener->Next(std::chrono::milliseconds(500))) text = *event;
    const auto now = std::chrono::steady_clock::now();
    if (text.empty() && now - last >= kHeartbeat) text = ": here\n\n";
    if (!text.empty()) last = now;
    return true;
  };
  return out;
}

Response HttpServer::Impl::Page(const HttpRequest& in) {
  Response out = AssetResponse(assets, in);
  if (options.in_frame)
    out.headers.emplace_back("Content-Security-Policy", PagePolicy(kLocalPages));
  return out;
}

Response HttpServer::Impl::Answer(HttpRequest in, std::function<bool()> is_gone) {
  const bool is_get = in.method != "POST";
  if (!in.path.starts_with(kApi) || !in.path.substr(kApi.size()).starts_with('/'))
    return is_get ? Page(in) : ErrorResponse(404, "not_found", "there is no such request");
  if (is_get && in.path == "/api/v1/events") return Events();
  const Stopwatch watch;
  Response response = api.Handle({.method = is_get ? "GET" : "POST",
                                  .path = in.path.substr(kApi.size()),
                                  .query = std::move(in.query),
                                  .body = std::move(in.body),
                                  .is_gone = std::move(is_gone)});
  response.headers.emplace_back("Server-Timing", watch.Timing());
  return response;
}

namespace {

Error WhyNotBound(const HttpOptions& options, int reason) {
  const std::string where =
      options.port == 0 ? options.host : fmt::format("{}:{}", options.host, options.port);
  if (reason == EADDRINUSE)
    return {
        ErrorCode::kIo,
        fmt::format("cannot listen on {}: the port is in use; --port 0 takes a free one", where)};
  if (reason == EACCES)
    return {ErrorCode::kIo,
            fmt::format("cannot listen on {}: no permission for this port; --port 0 "
                        "takes a free one",
                        where)};
  if (reason == EADDRNOTAVAIL)
    return {ErrorCode::kIo,
            fmt::format("cannot listen on {}: this machine has no such address", where)};
  return {ErrorCode::kIo, fmt::format("cannot listen on {}: {}", where, std::strerror(reason))};
}

}  // namespace

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(); }
int HttpServer::port() const { return impl_->port; }

Result<std::unique_ptr<HttpServer>> HttpServer::Start(Workspace& workspace,
                                                      const HttpOptions& options) {
  auto impl = std::make_unique<Impl>(workspace, options);
  if (options.needs_token) {
    SL_ASSIGN_OR_RETURN(impl->admission.secret, MakeToken());
  }
  const HttpListener::Bound bound = options.port == 0
                                        ? BindToFreePort(options.host)
                                        : HttpListener::Bind(options.host, options.port);
  if (bound.fd < 0) return WhyNotBound(options, bound.error);
  impl->port = bound.port;
  impl->admission.host = options.host;
  impl->admission.cookie = fmt::format("steplens_{}", bound.port);
  Impl* const serving = impl.get();
  impl->sockets = std::make_unique<HttpListener>(
      bound, HttpListener::Handlers{[serving](const HttpRequest& in) { return serving->Admit(in); },
                                    [serving](HttpRequest in, std::function<bool()> is_gone) {
                                      return serving->Answer(std::move(in), std::move(is_gone));
                                    }});
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::Stop() {
  impl_->workspace.events().Close();
  impl_->sockets->Stop();
}

Result<std::string> HttpServer::IssueToken() {
  if (impl_->admission.secret.empty()) return std::string();
  return impl_->tokens.Issue();
}

bool HttpServer::IsUnspent(const std::string& token) const {
  return impl_->tokens.IsUnspent(token);
}

}  // namespace steplens::server
