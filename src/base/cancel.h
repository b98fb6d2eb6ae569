#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

namespace steplens {

// Ctrl-C. Long loops ask IsCancelled() once per chunk and return ErrorCode::kCancelled.
// RequestCancel is async-signal-safe.
void RequestCancel();
// Also true when the work of this thread is no longer wanted, see CancelScope. Once true for some
// work it stays so.
bool IsCancelled();
void ClearCancel();  // for tests and for a server that goes on

// Work that can be given up while the rest of the process goes on: as long as the scope is open
// IsCancelled() also asks `is_unwanted`, every 50 ms at most, first after 50 ms: on the thread that
// opened it and on threads of a pool that work for it. Scopes nest; the outer ones count as well.
class CancelScope {
 public:
  // `is_unwanted` may be empty; it is called on any of those threads, on one at a time.
  explicit CancelScope(std::function<bool()> is_unwanted);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  bool IsUnwanted() const;

  // The innermost one of this thread; null if there is none.
  static const CancelScope* Current();
  // Works for somebody else's scope while it lives, which must live longer.
  class Entered {
   public:
    explicit Entered(const CancelScope* scope);
    ~Entered();
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    const CancelScope* before_;
  };

 private:
  const CancelScope* outer_;
  const std::function<bool()> is_unwanted_;
  mutable std::atomic<bool> unwanted_{false};
  mutable std::atomic<int64_t> next_look_ns_;
  mutable std::mutex asking_mutex_;  // held while asking
};

}  // namespace steplens
