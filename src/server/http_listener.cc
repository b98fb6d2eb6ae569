#include "server/http_listener.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "base/allocator.h"
#include "base/descriptor.h"
#include "base/memory_limit.h"
#include "server/socket_io.h"

namespace steplens::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr size_t kWorkers = 32;
constexpr size_t kMaxRequestsWaiting = 1024;  // whole requests that no thread has taken yet
constexpr int kBacklog = 1024;
constexpr int kTickMs = 200;  // how late a deadline may be noticed
constexpr size_t kReadBytes = 64 << 10;

// A client's connection, which either the reading thread or the one that answers owns.
struct Connection {
  enum class Phase : uint8_t { kIdle, kReceiving, kLeaving };

  explicit Connection(Descriptor accepted) : socket(std::move(accepted)) {}

  Descriptor socket;
  Phase phase = Phase::kIdle;
  std::string input{};  // received and not taken yet
  HttpRequestParser parser{};
  bool is_admitted = false;
  Clock::time_point since = Clock::now();  // of the phase
  Clock::time_point deadline = since + seconds(HttpListener::kIdleSeconds);

  void Enter(Phase next, seconds patience) {
    phase = next;
    since = Clock::now();
    deadline = since + patience;
  }
  void BeginRequest() {
    parser = HttpRequestParser();
    is_admitted = false;
    Enter(Phase::kIdle, seconds(HttpListener::kIdleSeconds));
  }
};

// An answer that takes no memory, where there is none.
void RefuseForMemory(int fd) {
  static constexpr std::string_view kAnswer =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
      "Content-Length: 78\r\n\r\n"
      R"({"error": {"code": "out_of_memory", "message": "there is not enough memory"}})"
      "\n";
  static_assert(kAnswer.size() - kAnswer.find("\r\n\r\n") - 4 == 78);
  [[maybe_unused]] const ssize_t sent =
      ::send(fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

class HttpListener::Impl {
 public:
  Impl(Bound bound, Handlers handlers) : listening_(bound.fd), handlers_(std::move(handlers)) {
    Watch(EPOLL_CTL_ADD, listening_.get());
    Watch(EPOLL_CTL_ADD, wake_.get());
    answering_.fill(-1);
    workers_.reserve(kWorkers);
    try {
      AddWorker();
      reader_ = std::jthread([this] { ReadAll(); });
    } catch (...) {  // NOLINT: no thread may wait for an end that nobody says
      Stop();
      throw;
    }
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      for (const int fd : answering_) {
        if (fd >= 0) ::shutdown(fd, SHUT_RDWR);
      }
    }
    changed_.notify_all();
    Wake();
    if (reader_.joinable()) reader_.join();
    workers_.clear();
  }

 private:
  void Watch(int action, int fd) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.fd = fd;
    epoll_ctl(epoll_.get(), action, fd, &event);
  }
  void Wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
  }
  bool IsStopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  // The reading thread.
  void ReadAll();
  void Serve(int fd);
  void Accept();
  void MakeRoom();
  void TakeReturned();
  void Read(int fd);
  void Advance(Connection& connection);
  void Leave(Connection& connection, const Response& response);
  void CloseLate();
  void HandOver(int fd);
  void CallWorker();
  void AddWorker() {
    const size_t number = workers_.size();
    workers_.emplace_back([this, number] { Work(number); });
  }

  // The threads that answer.
  void Work(size_t number);
  bool Answer(Connection& connection);

  Descriptor listening_;
  Descriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
  Descriptor wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  const Handlers handlers_;
  // Of the reading thread.
  std::map<int, std::unique_ptr<Connection>> reading_;
  std::array<char, kReadBytes> buffer_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  size_t resting_ = 0;                                // threads that wait for a request
  std::deque<std::unique_ptr<Connection>> waiting_;   // whole requests
  std::deque<std::unique_ptr<Connection>> returned_;  // answered, and open for the next request
  std::array<int, kWorkers> answering_;               // by worker; -1 if it rests

  std::jthread reader_;
  std::vector<std::jthread> workers_;
};

void HttpListener::Impl::ReadAll() {
  std::array<epoll_event, 64> events;
  Clock::time_point next_look = Clock::now();
  while (!IsStopped()) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 reading_.empty() ? -1 : kTickMs);
    for (int i = 0; i < count; ++i) Serve(events[static_cast<size_t>(i)].data.fd);
    if (Clock::now() >= next_look) {
      try {
        CloseLate();
      } catch (const std::bad_alloc&) {  // at the next look
      }
      next_look = Clock::now() + std::chrono::milliseconds(kTickMs);
    }
  }
  reading_.clear();
}

void HttpListener::Impl::Serve(int fd) {
  try {
    if (fd == listening_.get()) {
      Accept();
    } else if (fd == wake_.get()) {
      TakeReturned();
    } else {
      Read(fd);
    }
  } catch (const std::bad_alloc&) {  // somebody else's request has it; this one ends
    const auto found = reading_.find(fd);
    if (found == reading_.end()) return;
    RefuseForMemory(fd);
    reading_.erase(found);
  }
}

void HttpListener::Impl::Accept() {
  while (true) {
    Descriptor accepted(accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted.get() < 0) {
      if (errno != EMFILE && errno != ENFILE) return;
      // No descriptor is left: the oldest connection gives up its own, or somebody ends soon.
      if (reading_.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      MakeRoom();
      return;
    }
    if (reading_.size() >= kMaxConnections) MakeRoom();
    const int yes = 1;
    setsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    const int fd = accepted.get();
    reading_[fd] = std::make_unique<Connection>(std::move(accepted));
    Watch(EPOLL_CTL_ADD, fd);
  }
}

// Closes the connection that has gone longest without completing a request.
void HttpListener::Impl::MakeRoom() {
  const auto oldest = std::min_element(
      reading_.begin(), reading_.end(),
      [](const auto& a, const auto& b) { return a.second->since < b.second->since; });
  if (oldest != reading_.end()) reading_.erase(oldest);
}

void HttpListener::Impl::TakeReturned() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof(count));
  std::deque<std::unique_ptr<Connection>> back;
  {
    const std::lock_guard lock(mutex_);
    back.swap(returned_);
  }
  for (auto& connection : back) {
    const int fd = connection->socket.get();
    connection->BeginRequest();
    Connection& kept = *(reading_[fd] = std::move(connection));
    Watch(EPOLL_CTL_ADD, fd);
    if (!kept.input.empty()) Advance(kept);  // sent before the answer to the last one
  }
}

void HttpListener::Impl::Read(int fd) {
  const auto found = reading_.find(fd);
  if (found == reading_.end()) return;
  Connection& connection = *found->second;
  const ssize_t got = ::recv(fd, buffer_.data(), buffer_.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    reading_.erase(found);
    return;
  }
  if (connection.phase == Connection::Phase::kLeaving) return;  // its answer is on the way
  connection.input.append(buffer_.data(), static_cast<size_t>(got));
  Advance(connection);
}

// Takes what has arrived apart and, if it is a whole request, hands the connection over.
void HttpListener::Impl::Advance(Connection& connection) {
  using State = HttpRequestParser::State;
  if (connection.phase == Connection::Phase::kIdle)
    connection.Enter(Connection::Phase::kReceiving, seconds(kHeadSeconds));
  HttpRequestParser& parser = connection.parser;
  while (true) {
    const State before = parser.state();
    const State state = parser.Advance(connection.input);
    if (state == State::kFailed)
      return Leave(connection, ErrorResponse(parser.status(), "http", parser.problem()));
    if (state != State::kHead && !connection.is_admitted) {
      if (const auto answer = handlers_.admit(parser.request())) return Leave(connection, *answer);
      connection.is_admitted = true;
      connection.deadline = connection.since + seconds(kRequestSeconds);
      if (parser.expects_continue())
        TrySend(connection.socket.get(), "HTTP/1.1 100 Continue\r\n\r\n");
    }
    if (state == State::kDone) return HandOver(connection.socket.get());
    if (state == before) return;
  }
}

// Sends a short answer and lets the client read it: what it still sends is thrown away, for a
// connection that is closed with unread bytes takes its answer with it.
void HttpListener::Impl::Leave(Connection& connection, const Response& response) {
  const HttpRequest& request = connection.parser.request();
  TrySend(connection.socket.get(), HeadOf(response, request, /*keeps_alive=*/false) +
                                       (request.method == "HEAD" ? std::string() : response.body));
  ::shutdown(connection.socket.get(), SHUT_WR);
  connection.input = std::string();
  connection.Enter(Connection::Phase::kLeaving, seconds(2));
}

void HttpListener::Impl::CloseLate() {
  const Clock::time_point now = Clock::now();
  for (auto it = reading_.begin(); it != reading_.end();) {
    Connection& connection = *it->second;
    if (now < connection.deadline) {
      ++it;
    } else if (connection.phase == Connection::Phase::kReceiving) {
      Leave(connection, ErrorResponse(408, "slow", "the request did not arrive in time"));
      ++it;
    } else {
      it = reading_.erase(it);
    }
  }
}

void HttpListener::Impl::HandOver(int fd) {
  const auto found = reading_.find(fd);
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < kMaxRequestsWaiting) {
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
      waiting_.push_back(std::move(found->second));
      reading_.erase(found);
      CallWorker();
      return;
    }
  }
  Leave(*found->second,
        ErrorResponse(503, "overloaded", "too many parallel requests", "try again"));
}

// For the request that now waits; the mutex is held. Threads are started as requests need them:
// each takes a stack. Without another one the request waits for those there are.
void HttpListener::Impl::CallWorker() {
  changed_.notify_one();
  if (waiting_.size() <= resting_ || workers_.size() == kWorkers) return;
  try {
    AddWorker();
  } catch (const std::system_error&) {
  }
}

void HttpListener::Impl::Work(size_t number) {
  while (true) {
    std::unique_ptr<Connection> connection;
    {
      std::unique_lock lock(mutex_);
      ++resting_;
      changed_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
      --resting_;
      if (stopped_) return;
      connection = std::move(waiting_.front());
      waiting_.pop_front();
      answering_[number] = connection->socket.get();
    }
    bool stays = false;
    try {
      stays = Answer(*connection);
    } catch (const std::bad_alloc&) {  // not even for the refusal
      RefuseForMemory(connection->socket.get());
    }
    const std::lock_guard lock(mutex_);
    answering_[number] = -1;
    if (!stays || stopped_) continue;
    try {
      returned_.push_back(std::move(connection));
      Wake();
    } catch (const std::bad_alloc&) {  // the client opens another one
    }
  }
}

// Whether the connection stays open.
bool HttpListener::Impl::Answer(Connection& connection) {
  const int fd = connection.socket.get();
  HttpRequest request = connection.parser.Take();
  const HttpRequest head{request.method, {}, {}, {}, {}, request.is_http11, request.keeps_alive};
  Response response;
  try {
    response = handlers_.answer(std::move(request), [fd] { return IsHungUp(fd); });
  } catch (const std::exception& failure) {
    if (IsOutOfMemory(failure)) ReturnUnusedMemory();
    response = IsOutOfMemory(failure)
                   ? ErrorResponse(OutOfMemory())
                   : ErrorResponse(500, "internal", "the request failed unexpectedly",
                                   "please report this");
  }
  return SendResponse(fd, head, response, seconds(kStalledSeconds)) && head.keeps_alive;
}

HttpListener::Bound HttpListener::Bind(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  if (getaddrinfo(host.c_str(), service.c_str(), &hints, &found) != 0)
    return {-1, 0, EADDRNOTAVAIL};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Descriptor fd(::socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int yes = 1;
    const int no = 0;
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (one->ai_family == AF_INET6)
      setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
    if (::bind(fd.get(), one->ai_addr, one->ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0) {
      error = errno;
      continue;
    }
    const int bound_port = LocalPort(fd.get());
    return {fd.Release(), bound_port, 0};
  }
  return {-1, 0, error};
}

HttpListener::HttpListener(Bound bound, Handlers handlers)
    : impl_(std::make_unique<Impl>(bound, std::move(handlers))) {}
HttpListener::~HttpListener() { Stop(); }
void HttpListener::Stop() { impl_->Stop(); }

}  // namespace steplens::server
