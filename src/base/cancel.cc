#include "base/cancel.h"

#include <chrono>
#include <utility>

namespace steplens {
namespace {

std::atomic<bool> cancelled{false};  // NOLINT: the one process-wide flag, set by a signal handler
thread_local const CancelScope* current_scope = nullptr;

// Asking may take a system call; loops ask often.
constexpr int64_t kLookEveryNs = 50'000'000;

int64_t SteadyNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void RequestCancel() { cancelled.store(true, std::memory_order_relaxed); }
bool IsCancelled() {
  if (cancelled.load(std::memory_order_relaxed)) return true;
  return current_scope != nullptr && current_scope->IsUnwanted();
}
void ClearCancel() { cancelled.store(false, std::memory_order_relaxed); }

CancelScope::CancelScope(std::function<bool()> is_unwanted)
    : outer_(current_scope),
      is_unwanted_(std::move(is_unwanted)),
      next_look_ns_(SteadyNs() + kLookEveryNs) {
  current_scope = this;
}

CancelScope::~CancelScope() { current_scope = outer_; }

bool CancelScope::IsUnwanted() const {
  if (unwanted_.load(std::memory_order_relaxed)) return true;
  if (is_unwanted_ && SteadyNs() >= next_look_ns_.load(std::memory_order_relaxed)) {
    const std::unique_lock lock(asking_mutex_, std::try_to_lock);
    if (lock.owns_lock() && is_unwanted_()) unwanted_.store(true, std::memory_order_relaxed);
    next_look_ns_.store(SteadyNs() + kLookEveryNs, std::memory_order_relaxed);
    if (unwanted_.load(std::memory_order_relaxed)) return true;
  }
  return outer_ != nullptr && outer_->IsUnwanted();
}

const CancelScope* CancelScope::Current() { return current_scope; }

CancelScope::Entered::Entered(const CancelScope* scope)
    : before_(std::exchange(current_scope, scope)) {}

CancelScope::Entered::~Entered() { current_scope = before_; }

}  // namespace steplens
