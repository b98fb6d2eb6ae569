#pragma once

#include "base/cancel.h"
#include "base/status.h"

namespace steplens::analysis {

// kCancelled if nobody waits for the result any more. Who walks over ranks asks once a rank.
inline Status StillWanted() {
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "nobody waits for the result any more"};
  return {};
}

}  // namespace steplens::analysis
