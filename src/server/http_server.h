#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "server/workspace.h"

namespace steplens::server {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;               // 0: a free one, if possible one of the usual ones
  std::string token;          // empty: none is needed
  std::string assets_folder;  // empty: the web app in the program
};

// The web app and the API on a socket. Requests are answered by a fixed number of threads; those
// that find no room in the queue are told so (503). Starts no other process and writes nothing.
class HttpServer {
 public:
  // Binds and serves until Stop. The workspace must outlive it.
  static Result<std::unique_ptr<HttpServer>> Start(Workspace& workspace,
                                                   const HttpOptions& options);
  ~HttpServer();  // stops
  int port() const;
  void Stop();  // ends open connections; returns when all threads have ended

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// 128 random bits as hex digits.
Result<std::string> MakeToken();

}  // namespace steplens::server
