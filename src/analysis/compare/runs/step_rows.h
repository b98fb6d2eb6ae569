#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/compare/runs/run_summary.h"
#include "analysis/steps/steps.h"
#include "store/trace_store.h"

namespace steplens::analysis::runs {

// The steps of a rank as a summary lists them, and how to find the step of a time. A run without
// marks has one step, which holds everything.
class SummarySteps {
 public:
  // `numbers` ascending; `ranges` must outlive this.
  SummarySteps(std::vector<int64_t> numbers, std::span<const StepRange> ranges);

  size_t size() const { return numbers_.size(); }
  std::span<const int64_t> numbers() const { return numbers_; }
  std::optional<size_t> OfNumber(int64_t step) const;
  std::optional<size_t> OfDeviceTime(int64_t ts_ns);      // fastest in ascending order
  std::optional<size_t> OfHostTime(int64_t ts_ns) const;  // from its mark to that of the next step

 private:
  bool is_whole_run() const { return numbers_.size() == 1 && numbers_[0] == store::kNone; }

  std::vector<int64_t> numbers_;
  std::span<const StepRange> ranges_;
  StepFinder finder_;
};

// Sums times by name and step.
class StepRows {
 public:
  StepRows(RowKind kind, size_t steps) : kind_(kind), steps_(steps) {}
  void Add(const std::string& name, size_t step, int64_t dur_ns);
  // By a number that stands for the name, such as its id; `name_of(number)` is asked once.
  template <typename NameOf>
  void AddById(uint32_t id, size_t step, int64_t dur_ns, NameOf&& name_of) {
    auto place = by_id_.find(id);
    if (place == by_id_.end()) place = by_id_.emplace(id, PlaceOf(name_of(id))).first;
    AddAt(place->second, step, dur_ns);
  }
  // Moves the rows to the end of `out`.
  void MoveTo(std::vector<SumRow>& out);

 private:
  size_t PlaceOf(const std::string& name);
  void AddAt(size_t place, size_t step, int64_t dur_ns);

  RowKind kind_;
  size_t steps_;
  std::vector<SumRow> rows_;
  std::map<std::string, size_t> by_name_;
  std::unordered_map<uint32_t, size_t> by_id_;
};

}  // namespace steplens::analysis::runs
