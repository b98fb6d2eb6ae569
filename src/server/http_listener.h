#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "server/api/request.h"
#include "server/http_message.h"

namespace steplens::server {

// HTTP/1.1 on a socket. One thread reads the requests of all connections, within the limits of
// http_message.h and the times below, so that connections that are slow or silent hold up nobody. A
// fixed number of threads answers what has arrived whole. Whoever is not admitted costs neither a
// thread nor the memory for a body.
class HttpListener {
 public:
  struct Handlers {
    // Looks at a request whose body has not been taken yet; an answer ends it. Must not block.
    std::function<std::optional<Response>(const HttpRequest&)> admit;
    // Answers a whole request, on any of the threads. `is_gone` says whether the client went away.
    std::function<Response(HttpRequest, std::function<bool()> is_gone)> answer;
  };
  static constexpr int kHeadSeconds = 10;         // to send the head, from the first byte on
  static constexpr int kRequestSeconds = 30;      // to send all of a request
  static constexpr int kIdleSeconds = 10;         // between requests, and before the first
  static constexpr int kStalledSeconds = 30;      // without taking a byte of the answer
  static constexpr size_t kMaxConnections = 512;  // being read; the longest without a request goes

  // Binds to an address and listens; port 0 is any. The error is an errno.
  struct Bound {
    int fd = -1;
    int port = 0;
    int error = 0;
  };
  static Bound Bind(const std::string& host, int port);

  // Owns the socket of `bound`.
  HttpListener(Bound bound, Handlers handlers);
  ~HttpListener();  // stops
  void Stop();      // ends all connections; returns when all threads have ended

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace steplens::server
