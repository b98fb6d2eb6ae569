#include "base/cancel.h"

#include <atomic>

namespace steplens {
namespace {
std::atomic<bool> cancelled{false};  // NOLINT: the one process-wide flag, set by a signal handler
}

void RequestCancel() { cancelled.store(true, std::memory_order_relaxed); }
bool IsCancelled() { return cancelled.load(std::memory_order_relaxed); }
void ClearCancel() { cancelled.store(false, std::memory_order_relaxed); }

}  // namespace steplens
