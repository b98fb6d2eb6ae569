#include "analysis/verify/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/number.h"

namespace steplens::analysis::verify {

bool Context::lost_all_kernels() const {
  if (is_db() || store.kernels.size() > 0) return false;
  return std::any_of(store.info.files.begin(), store.info.files.end(), [](const auto& file) {
    const std::string_view path = file.path;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.ends_with(".csv") &&
           (name.starts_with("kernel_details") || name.starts_with("op_summary"));
  });
}

TrackKind Context::track_kind(store::TrackId track) const {
  const std::vector<TrackKind>& kinds = rank.tracks();
  const auto t = static_cast<size_t>(track);
  return t < kinds.size() ? kinds[t] : TrackKind::kOther;
}

std::string Context::KernelText(size_t kernel) const {
  return fmt::format("{} row {} ({})", Name("kernel_details", "kernels"), kernel + 1,
                     Text(store.kernels.name[kernel]));
}

std::optional<int64_t> NsOfUs(double us) {
  constexpr double kAbsurdUs = 1e15;  // thirty years
  if (!(std::fabs(us) < kAbsurdUs)) return std::nullopt;
  return std::llround(us * 1000);
}

uint64_t Distance(int64_t a_ns, int64_t b_ns) {
  const auto a = static_cast<uint64_t>(a_ns);
  const auto b = static_cast<uint64_t>(b_ns);
  return a_ns > b_ns ? a - b : b - a;
}

int64_t GapNs(int64_t from_ns, int64_t to_ns) {
  if (to_ns <= from_ns) return 0;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(Distance(from_ns, to_ns), kMax));
}

std::string UsText(int64_t ns) { return ns == store::kNone ? "?" : FormatNsAsUs(ns) + " us"; }

Verdict::Verdict(const Context& context, std::string_view id, std::string_view title)
    : max_rows_(context.options.max_rows) {
  result_.id = id;
  result_.title = title;
}

std::string Verdict::FoundExpected(double found, double expected) {
  // Fifteen digits: all that is exact in a double, without the artefacts of its last bits.
  return fmt::format(" is {:.15g}, expected {:.15g}", found, expected);
}

void Verdict::KeepLargest(double deviation, std::string_view unit) {
  if (!(deviation > largest_)) return;
  largest_ = deviation;
  unit_ = unit;
}

CheckResult Verdict::Finish(std::string_view what) {
  if (rows_ == 0) return NotApplicable(fmt::format("no {} to compare", what));
  if (broken_ == 0) {
    result_.state = CheckState::kHolds;
    result_.detail = fmt::format("{} {}", rows_, what);
  } else {
    result_.state = CheckState::kBroken;
    result_.detail = fmt::format("{} of {} {}", broken_, rows_, what);
    if (largest_ > 0) {
      result_.detail += fmt::format(", largest deviation {:.6g}{}", largest_, unit_);
    }
  }
  for (const std::string& note : notes_) result_.detail += "; " + note;
  return std::move(result_);
}

CheckResult Verdict::NotApplicable(std::string reason) {
  result_.state = CheckState::kNotApplicable;
  result_.detail = std::move(reason);
  for (const std::string& note : notes_) result_.detail += "; " + note;
  return std::move(result_);
}

}  // namespace steplens::analysis::verify
