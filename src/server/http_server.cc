#include "server/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <thread>

#include "base/late_library.h"
#include "base/number.h"
#include "server/admission.h"
#include "server/api/api.h"
#include "server/assets.h"

namespace steplens {
extern const LateLibrary late_httplib;
}

namespace steplens::server {
namespace {

constexpr size_t kWorkers = 32;
constexpr size_t kMaxConnections = 1024;  // connections
constexpr size_t kMaxBody = 1 << 20;      // bytes
constexpr int kBacklog = 1024;
constexpr int kFirstUsualPort = 18811;
constexpr int kUsualPorts = 10;
constexpr auto kHeartbeat = std::chrono::seconds(15);
constexpr std::string_view kApi = "/api/v1";
constexpr const char* kPolicy =
    "default-src 'self'; img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Whether the present thread answers a connection that found no room.
thread_local bool is_overloaded = false;

// Threads for connections. Beyond kMaxConnections a single further thread turns connections away.
class BoundedQueue : public httplib::TaskQueue {
 public:
  BoundedQueue() {
    for (size_t i = 0; i < kWorkers; ++i) {
      threads_.emplace_back([this] { Work(waiting_, false); });
    }
    threads_.emplace_back([this] { Work(refused_, true); });
  }
  void enqueue(std::function<void()> task) override {
    std::unique_lock lock(mutex_);
    auto& queue = waiting_.size() < kMaxConnections ? waiting_ : refused_;
    queue.push_back(std::move(task));
    changed_.notify_all();
  }
  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    threads_.clear();
  }

 private:
  void Work(std::deque<std::function<void()>>& queue, bool refuses) {
    is_overloaded = refuses;
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || !queue.empty(); });
        if (queue.empty()) return;
        task = std::move(queue.front());
        queue.pop_front();
      }
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::deque<std::function<void()>> refused_;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

int PortOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return -1;
}

// visit(fd, port of the other side) for each connection of ours. The library keeps sockets to
// itself, so they are found among the open files of the process.
template <typename Visitor>
void ForEachConnection(int local_port, Visitor&& visit) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto fd = ParseInt64(entry.path().filename().string());
    if (!fd) continue;
    sockaddr_storage local{};
    sockaddr_storage remote{};
    socklen_t size = sizeof(local);
    if (getsockname(static_cast<int>(*fd), reinterpret_cast<sockaddr*>(&local), &size) != 0 ||
        PortOf(local) != local_port)
      continue;
    size = sizeof(remote);
    if (getpeername(static_cast<int>(*fd), reinterpret_cast<sockaddr*>(&remote), &size) == 0)
      visit(static_cast<int>(*fd), PortOf(remote));
  }
}

// A browser keeps settings, markers and what was looked at by address, port included: a port that
// is the same every time lets it find them again.
int BindToFreePort(httplib::Server& server, const std::string& host) {
  for (int port = kFirstUsualPort; port < kFirstUsualPort + kUsualPorts; ++port) {
    if (server.bind_to_port(host, port)) return port;
  }
  return server.bind_to_any_port(host);
}

// Whether the client of a request hung up.
std::function<bool()> GoneTest(int local_port, int remote_port) {
  return [=, fd = -1]() mutable {
    if (fd < 0) {
      ForEachConnection(local_port, [&](int open, int port) {
        if (port == remote_port) fd = open;
      });
      if (fd < 0) return true;
    }
    pollfd state{fd, POLLRDHUP, 0};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  };
}

void SetCommonHeaders(httplib::Response& out) {
  out.set_header("Content-Security-Policy", kPolicy);
  out.set_header("X-Content-Type-Options", "nosniff");
  out.set_header("Referrer-Policy", "no-referrer");
  out.set_header("Cross-Origin-Resource-Policy", "same-origin");
}

// Bodies are sent through a provider: the library would pack plain ones, which costs more than the
// loopback saves.
void SetBody(httplib::Response& out, std::string body, const std::string& type) {
  if (body.empty()) {
    out.set_content("", type);
    return;
  }
  auto shared = std::make_shared<std::string>(std::move(body));  // std::function must be copyable
  out.set_content_provider(shared->size(), type,
                           [shared](size_t offset, size_t length, httplib::DataSink& sink) {
                             return sink.write(shared->data() + offset, length);
                           });
}

void Send(httplib::Response& out, Response response) {
  SetCommonHeaders(out);
  out.status = response.status;
  for (const auto& [name, value] : response.headers) out.set_header(name, value);
  if (!out.has_header("Cache-Control")) out.set_header("Cache-Control", "no-store");
  if (response.stream) {
    out.set_chunked_content_provider(
        response.content_type, [stream = response.stream](size_t, httplib::DataSink& sink) {
          std::string piece;
          const bool more = stream(piece);
          if (!piece.empty() && !sink.write(piece.data(), piece.size())) return false;
          if (!more) sink.done();
          return true;
        });
    return;
  }
  if (response.status == 204) return;
  SetBody(out, std::move(response.body), response.content_type);
}

void SendAsset(const Assets& assets, const httplib::Request& in, httplib::Response& out) {
  const bool accepts_gzip =
      in.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
  std::optional<Asset> asset = assets.Find(in.path, accepts_gzip);
  if (!asset) return Send(out, ErrorResponse(404, "not_found", "there is no such file"));
  SetCommonHeaders(out);
  out.set_header("ETag", asset->etag);
  out.set_header("Vary", "Accept-Encoding");
  out.set_header("Cache-Control",
                 asset->is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
  if (in.get_header_value("If-None-Match") == asset->etag) {
    out.status = 304;
    return;
  }
  if (asset->is_gzip) out.set_header("Content-Encoding", "gzip");
  out.status = 200;
  SetBody(out, std::move(asset->body), asset->content_type);
}

Request ToRequest(const httplib::Request& in, int local_port) {
  Request request;
  request.method = in.method == "HEAD" ? "GET" : in.method;
  request.path = in.path.substr(kApi.size());
  for (const auto& [name, value] : in.params) request.query.emplace(name, value);
  request.body = in.body;
  request.is_gone = GoneTest(local_port, in.remote_port);
  return request;
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

}  // namespace

struct HttpServer::Impl {
  Impl(Workspace& to_show, HttpOptions with)
      : workspace(to_show), options(std::move(with)), api(to_show), assets(options.assets_folder) {}

  void Route();
  httplib::Server::HandlerResponse Admit(const httplib::Request& in, httplib::Response& out) const;
  void Login(const httplib::Request& in, httplib::Response& out) const;
  void SendEvents(httplib::Response& out);

  Workspace& workspace;
  HttpOptions options;
  Api api;
  Assets assets;
  Admission admission;
  int port = 0;
  httplib::Server server;
  std::jthread thread;
};

// A token in the address becomes a cookie, and leaves the address.
void HttpServer::Impl::Login(const httplib::Request& in, httplib::Response& out) const {
  if (!EqualInConstantTime(in.get_param_value("token"), options.token))
    return Send(out, ErrorResponse(401, "no_token", "the token is wrong",
                                   "open the address that steplens printed"));
  SetCommonHeaders(out);
  out.set_header("Set-Cookie", fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/",
                                           admission.cookie, options.token));
  out.set_header("Cache-Control", "no-store");
  out.set_header("Location", "./");
  out.status = 302;
}

httplib::Server::HandlerResponse HttpServer::Impl::Admit(const httplib::Request& in,
                                                         httplib::Response& out) const {
  using enum httplib::Server::HandlerResponse;
  if (is_overloaded) {
    Send(out, ErrorResponse(503, "overloaded", "too many requests at once", "try again"));
    return Handled;
  }
  const std::string host = in.get_header_value("Host");
  const std::string origin = in.get_header_value("Origin");
  const std::string cookies = in.get_header_value("Cookie");
  const std::string token = in.get_header_value("X-Steplens-Token");
  const std::string steplens = in.get_header_value("X-Steplens");
  const std::string type = in.get_header_value("Content-Type");
  const RequestHead head{in.method, in.path, host, origin, cookies, token, steplens, type};
  const bool is_login =
      in.method == "GET" && in.path == "/" && in.has_param("token") && !options.token.empty();
  Admission checked = admission;
  if (is_login) checked.token.clear();
  if (std::optional<Response> refusal = Refuse(head, checked)) {
    Send(out, *std::move(refusal));
    return Handled;
  }
  if (!is_login) return Unhandled;
  Login(in, out);
  return Handled;
}

void HttpServer::Impl::SendEvents(httplib::Response& out) {
  const auto listener = workspace.events().Listen();
  if (!listener)
    return Send(out, ErrorResponse(503, "overloaded", "too many pages listen for events"));
  SetCommonHeaders(out);
  out.status = 200;
  out.set_header("Cache-Control", "no-store");
  auto last = std::make_shared<std::chrono::steady_clock::time_point>();
  out.set_chunked_content_provider(
      "text/event-stream",
      [listener, last](size_t, httplib::DataSink& sink) {
        if (listener->is_closed()) {
          sink.done();
          return true;
        }
        std::string text;
        if (const auto event = listener->Next(std::chrono::milliseconds(500))) text = *event;
        const auto now = std::chrono::steady_clock::now();
        if (text.empty() && now - *last < kHeartbeat) return sink.is_writable();
        if (text.empty()) text = ": here\n\n";
        *last = now;
        return sink.write(text.data(), text.size());
      },
      [this, listener](bool) { workspace.events().Leave(listener); });
}

void HttpServer::Impl::Route() {
  server.new_task_queue = [] { return new BoundedQueue; };
  server.set_payload_max_length(kMaxBody);
  server.set_read_timeout(10);
  server.set_write_timeout(30);
  server.set_keep_alive_timeout(5);
  server.set_keep_alive_max_count(10'000);
  server.set_tcp_nodelay(true);
  server.set_pre_routing_handler(
      [this](const httplib::Request& in, httplib::Response& out) { return Admit(in, out); });
  server.set_error_handler([](const httplib::Request&, httplib::Response& out) {
    if (!out.body.empty() || out.content_length_ > 0 || out.content_provider_) return;
    const int status = out.status;
    if (status < 400) return;
    const bool too_large = status == 413;
    Send(out, ErrorResponse(status, too_large ? "too_large" : "http",
                            too_large ? "the request is larger than 1 MiB"
                                      : fmt::format("HTTP error {}", status)));
  });
  server.set_exception_handler([](const httplib::Request&, httplib::Response& out,
                                  const std::exception_ptr&) {
    Send(out,
         ErrorResponse(500, "internal", "the request failed unexpectedly", "please report this"));
  });
  const auto answer = [this](const httplib::Request& in, httplib::Response& out) {
    if (in.path == "/api/v1/events") return SendEvents(out);
    const Stopwatch watch;
    Response response = api.Handle(ToRequest(in, port));
    response.headers.emplace_back("Server-Timing", watch.Timing());
    Send(out, std::move(response));
  };
  server.Get("/api/v1/.*", answer);
  server.Post("/api/v1/.*", answer);
  server.Get("/.*", [this](const httplib::Request& in, httplib::Response& out) {
    SendAsset(assets, in, out);
  });
  server.Post("/.*", [](const httplib::Request&, httplib::Response& out) {
    Send(out, ErrorResponse(404, "not_found", "there is no such request"));
  });
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
  return {
      ErrorCode::kIo,
      fmt::format("cannot listen on {}: no address of this machine, or the port is in use", where)};
}

}  // namespace

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(); }
int HttpServer::port() const { return impl_->port; }

Result<std::unique_ptr<HttpServer>> HttpServer::Start(Workspace& workspace,
                                                      const HttpOptions& options) {
  SL_RETURN_IF_ERROR(LoadLate(late_httplib));
  auto impl = std::make_unique<Impl>(workspace, options);
  int fd = -1;
  impl->server.set_socket_options([&fd](socket_t sock) {
    fd = sock;
    const int yes = 1;
    setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  impl->Route();
  if (options.port == 0) {
    impl->port = BindToFreePort(impl->server, options.host);
  } else if (impl->server.bind_to_port(options.host, options.port)) {
    impl->port = options.port;
  }
  if (impl->port <= 0) return WhyNotBound(options, errno);
  if (fd >= 0) ::listen(fd, kBacklog);  // the library's own backlog is 5
  impl->server.set_socket_options([](socket_t) {});
  impl->admission = {options.host, options.token, fmt::format("steplens_{}", impl->port)};
  Impl* running = impl.get();
  impl->thread = std::jthread([running] { running->server.listen_after_bind(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::Stop() {
  if (!impl_->thread.joinable()) return;
  impl_->workspace.events().Close();
  while (!impl_->server.is_running()) std::this_thread::yield();  // it has just been started
  impl_->server.stop();
  // Connections that are kept alive would hold their threads for seconds.
  ForEachConnection(impl_->port, [](int fd, int) { ::shutdown(fd, SHUT_RDWR); });
  impl_->thread.join();
}

Result<std::string> MakeToken() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes)))
    return Error{ErrorCode::kIo, "the system gives no random numbers for a token"};
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace steplens::server
