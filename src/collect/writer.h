#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace steplens::collect {

// The background thread of a capture: calls `pass` every `period_ms`, earlier when rings fill up
// (HurryWriter), and once more when it is stopped. User signals are blocked on it.
class Writer {
 public:
  Writer(uint32_t period_ms, std::function<void()> pass);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // False if the system gives no thread.
  bool Start();
  // After a last pass; waits for it.
  void Stop();
  // Waits until a pass that began after this call has ended.
  void WaitForPass();

 private:
  static void* Run(void* self);
  void Loop();

  const uint32_t period_ms_;
  const std::function<void()> pass_;
  pthread_t thread_ = {};
  std::mutex mutex_;  // guards what follows
  std::condition_variable pass_ended_;
  uint64_t asked_ = 0;
  uint64_t answered_ = 0;
  bool stopping_ = false;
};

}  // namespace steplens::collect
