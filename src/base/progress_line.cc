#include "base/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace steplens {
namespace {

std::string FormatTimeLeft(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(std::min(seconds, 359999.0)));
  if (whole < 60) return fmt::format("{} s left", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s left", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min left", whole / 3600, whole / 60 % 60);
}

}  // namespace

std::string FormatProgress(std::string_view title, uint64_t done_bytes, uint64_t total_bytes,
                           double seconds, size_t width) {
  const auto done = static_cast<double>(done_bytes);
  const double rate = seconds > 0 ? done / seconds : 0;
  std::string tail = fmt::format("  {:.0f} MB/s", rate / 1e6);
  if (total_bytes == 0) {
    return fmt::format("{} {:.0f} MB{}", title, done / 1e6, tail).substr(0, width);
  }
  const auto total = static_cast<double>(total_bytes);
  const double part = std::min(1.0, done / total);
  tail = fmt::format(" {:3.0f}%{}", std::floor(part * 100), tail);
  if (rate > 0) tail += "  " + FormatTimeLeft(std::max(0.0, total - done) / rate);

  constexpr size_t kWidest = 30;
  constexpr size_t kNarrowest = 5;  // shorter bars say nothing
  constexpr size_t kFrame = 3;      // a blank and two brackets
  const size_t used = title.size() + tail.size() + kFrame;
  const size_t bar = used < width ? std::min(kWidest, width - used) : 0;
  if (bar < kNarrowest) return fmt::format("{}{}", title, tail).substr(0, width);
  const auto filled = static_cast<size_t>(part * static_cast<double>(bar));
  return fmt::format("{} [{:=<{}}{:{}}]{}", title, "", filled, "", bar - filled, tail);
}

}  // namespace steplens
