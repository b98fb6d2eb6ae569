#pragma once

#include "base/status.h"
#include "mcp/session.h"

namespace steplens::mcp {

// Serves one client over two descriptors, a message per line, until the input ends or Ctrl-C.
// Calls run one after the other on a thread of their own, so that `ping` is answered and
// notifications/cancelled is heard while one runs.
Status ServeLines(Session& session, int input, int output);

}  // namespace steplens::mcp
