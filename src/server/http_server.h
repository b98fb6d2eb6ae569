#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "server/workspace.h"

namespace steplens::server {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;               // 0: a free one, if possible one of the usual ones
  bool needs_token = true;    // false: whoever reaches the port is let in
  bool in_frame = false;      // pages of this machine may show it in a frame
  std::string assets_folder;  // empty: the web app in the program
};

// The web app and the API on a socket. Starts no other process and writes nothing.
class HttpServer {
 public:
  // Binds and serves until Stop. The workspace must outlive it.
  static Result<std::unique_ptr<HttpServer>> Start(Workspace& workspace,
                                                   const HttpOptions& options);
  ~HttpServer();  // stops
  int port() const;
  void Stop();  // ends open connections; returns when all threads have ended

  // A token for an address, "/?token=...", that lets one browser in, once. Empty if none is needed.
  Result<std::string> IssueToken();
  bool IsUnspent(const std::string& token) const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace steplens::server
