#pragma once

#include "server/api/request.h"
#include "server/workspace.h"

namespace steplens::server {

// Answers the requests of docs/api.md. No socket here: the HTTP server, tests and the fuzz target
// call it alike. Thread safe.
class Api {
 public:
  explicit Api(Workspace& workspace) : workspace_(workspace) {}
  // Never fails: what goes wrong is a response with an error.
  Response Handle(const Request& request);

 private:
  Response HandleDataset(const Request& request, std::string_view rest);
  Workspace& workspace_;
};

}  // namespace steplens::server
