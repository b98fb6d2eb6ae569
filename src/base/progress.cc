#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace steplens {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Progress::Progress(std::string title, uint64_t total)
    : title_(std::move(title)),
      total_(total),
      on_terminal_(::isatty(STDERR_FILENO) != 0),
      start_(steady_clock::now()),
      next_draw_(start_ + milliseconds(500)) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::Add(uint64_t bytes) {
  done_.fetch_add(bytes, std::memory_order_relaxed);
  if (!on_terminal_) return;
  const auto now = steady_clock::now();
  const std::unique_lock lock(line_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || now < next_draw_) return;
  next_draw_ = now + milliseconds(100);
  Draw(now);
}

void Progress::Draw(steady_clock::time_point now) {
  drawn_ = true;
  const auto done = static_cast<double>(done_.load(std::memory_order_relaxed));
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = done / seconds;
  std::string line = fmt::format("\r{} {:.0f} MB/s", title_, rate / 1e6);
  if (total_ > 0) {
    constexpr size_t kWidth = 30;
    const double part = std::min(1.0, done / static_cast<double>(total_));
    const auto filled = static_cast<size_t>(part * kWidth);
    line = fmt::format("\r{} [{:=<{}}{:{}}] {:3.0f}% {:.0f} MB/s {:.0f} s left", title_, "", filled,
                       "", kWidth - filled, part * 100, rate / 1e6,
                       rate > 0 ? (static_cast<double>(total_) - done) / rate : 0);
  }
  std::fputs((line + "\033[K").c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace steplens
