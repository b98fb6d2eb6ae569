#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "base/progress_line.h"

namespace steplens {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

size_t TerminalWidth() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

}  // namespace

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
  const double seconds = std::chrono::duration<double>(now - start_).count();
  // The last column stays free: some terminals wrap when it is written.
  const std::string line = FormatProgress(title_, done_.load(std::memory_order_relaxed), total_,
                                          seconds, TerminalWidth() - 1);
  std::fputs(("\r" + line + "\033[K").c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace steplens
