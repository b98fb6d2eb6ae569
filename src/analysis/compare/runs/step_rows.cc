#include "analysis/compare/runs/step_rows.h"

#include <algorithm>

#include "analysis/time_math.h"

namespace steplens::analysis::runs {

SummarySteps::SummarySteps(std::vector<int64_t> numbers, std::span<const StepRange> ranges)
    : numbers_(std::move(numbers)), ranges_(ranges), finder_(ranges) {}

std::optional<size_t> SummarySteps::OfNumber(int64_t step) const {
  if (is_whole_run()) return 0;
  const auto place = std::lower_bound(numbers_.begin(), numbers_.end(), step);
  if (place == numbers_.end() || *place != step) return std::nullopt;
  return static_cast<size_t>(place - numbers_.begin());
}

std::optional<size_t> SummarySteps::OfDeviceTime(int64_t ts_ns) {
  if (is_whole_run()) return 0;
  const auto found = finder_.Find(ts_ns);
  return found ? OfNumber(ranges_[*found].step) : std::nullopt;
}

std::optional<size_t> SummarySteps::OfHostTime(int64_t ts_ns) const {
  if (is_whole_run()) return 0;
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), ts_ns,
                       [](int64_t ns, const StepRange& step) { return ns < step.host_begin_ns; });
  if (after == ranges_.begin()) return std::nullopt;
  const StepRange& step = *(after - 1);
  // The last step ends with its mark, or with the device work it launched.
  if (after == ranges_.end() && ts_ns >= std::max(step.host_end_ns, step.end_ns))
    return std::nullopt;
  return OfNumber(step.step);
}

size_t StepRows::PlaceOf(const std::string& name) {
  const auto [place, is_new] = by_name_.try_emplace(name, rows_.size());
  if (is_new) {
    SumRow& row = rows_.emplace_back();
    row.kind = kind_;
    row.name = name;
    row.total_ns.resize(steps_);
    row.calls.resize(steps_);
  }
  return place->second;
}

void StepRows::AddAt(size_t place, size_t step, int64_t dur_ns) {
  SumRow& row = rows_[place];
  row.total_ns[step] = AddNs(row.total_ns[step], std::max<int64_t>(0, dur_ns));
  ++row.calls[step];
}

void StepRows::Add(const std::string& name, size_t step, int64_t dur_ns) {
  AddAt(PlaceOf(name), step, dur_ns);
}

void StepRows::MoveTo(std::vector<SumRow>& out) {
  for (SumRow& row : rows_) out.push_back(std::move(row));
  rows_.clear();
}

}  // namespace steplens::analysis::runs
