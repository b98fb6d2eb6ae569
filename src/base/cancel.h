#pragma once

namespace steplens {

// Ctrl-C. Long loops ask IsCancelled() once per chunk and return ErrorCode::kCancelled.
// RequestCancel is async-signal-safe.
void RequestCancel();
bool IsCancelled();
void ClearCancel();  // for tests and for a server that goes on

}  // namespace steplens
