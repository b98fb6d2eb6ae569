#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace steplens {

// A one-line progress bar on stderr for work longer than half a second; silent unless stderr is a
// terminal. Add may be called from any thread; drawing happens at most ten times a second.
class Progress {
 public:
  // `total` in bytes; 0 when unknown.
  Progress(std::string title, uint64_t total);
  ~Progress();  // erases the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Add(uint64_t bytes);

 private:
  void Draw(std::chrono::steady_clock::time_point now);

  const std::string title_;
  const uint64_t total_;
  const bool on_terminal_;
  const std::chrono::steady_clock::time_point start_;
  std::atomic<uint64_t> done_{0};
  std::mutex line_mutex_;
  std::chrono::steady_clock::time_point next_draw_;
  bool drawn_ = false;
};

}  // namespace steplens
