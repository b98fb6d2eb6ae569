#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/unknown.h"

namespace steplens::analysis::runs {

// What is known of each step of a rank: times in ns, memory in bytes.
enum class StepPart : uint8_t {
  kE2e,  // the step: StepTime::ns()
  kComputing,
  kCommunication,  // not overlapped by computing
  kOverlapped,     // communication behind computing
  kWait,           // of communication calls, for the last rank to arrive, where the capture says so
  kFree,
  kPreparing,
  kBubble,
  kCopies,
  kAllocated,  // peak of the memory that operators hold
  kReserved,   // peak of what the allocator holds for them
};
inline constexpr size_t kStepParts = 11;
// As rules of the gate write them: "e2e", "computing", ... "memory", "reserved".
std::string_view PartName(StepPart part);
inline bool IsMemory(StepPart part) {
  return part == StepPart::kAllocated || part == StepPart::kReserved;
}

struct StepSums {
  StepSums() { values.fill(store::kNone); }
  int64_t step = store::kNone;  // none: the run marked no steps
  std::array<int64_t, kStepParts> values;

  int64_t& operator[](StepPart part) { return values[static_cast<size_t>(part)]; }
  int64_t operator[](StepPart part) const { return values[static_cast<size_t>(part)]; }

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step);
    for (int64_t& value : values) archive(value);
  }
};

// What the time of a step is summed over.
enum class RowKind : uint8_t {
  kKernel,      // device time of computing kernels by name
  kKernelType,  // and by operator type
  kOperator,    // host operators by name: time of their own on the host
  kModule,      // device time of what a module launched, by path
  kCollective,  // communication calls by type and kind of group: "allReduce (tp)"
  kGroup,       // communication calls by group: "tp (ranks 0-7)"
};
inline constexpr size_t kRowKinds = 6;
std::string_view KindName(RowKind kind);  // as rules write them: "kernel", "type", "operator", ...
bool IsKnownValue(RowKind kind);

// The name of the row that stands for all names beyond the longest.
inline constexpr std::string_view kOthersName = "(others)";

// One name: per step, summed over the ranks that have it. The vectors are parallel to the steps of
// what it is part of.
struct SumRow {
  RowKind kind = RowKind::kKernel;
  std::string name;
  std::vector<int64_t> total_ns;
  std::vector<int64_t> calls;
  std::vector<uint32_t> ranks;  // that have the name at all and the step

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(kind, name, total_ns, calls, ranks);
  }
};

// Where a rank stands in the job, as far as its metadata says.
struct Position {
  bool is_known = false;
  int64_t tp = 0;
  int64_t cp = 0;
  int64_t dp = 0;
  int64_t pp = 0;
  int64_t ep = 0;
  int64_t pp_size = 1;

  bool operator==(const Position&) const = default;
  auto operator<=>(const Position&) const = default;
  std::string ToText() const;  // "tp1 pp0 dp3"; empty if not known
  template <typename Archive>
  void Fields(Archive& archive) {
    archive(is_known, tp, cp, dp, pp, ep, pp_size);
  }
};

// What one rank adds to the summary of a run.
struct RankPart {
  int64_t rank = 0;
  Position position;
  std::vector<StepSums> steps;              // ascending
  std::vector<SumRow> rows;                 // `ranks` is empty: 1 in every step
  std::array<int64_t, kRowKinds> cut_ns{};  // RunSummary::cut_ns

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, position, steps, rows);
    for (int64_t& cut : cut_ns) archive(cut);
  }
};

struct RankRun {
  int64_t rank = 0;
  Position position;
  std::vector<StepSums> steps;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rank, position, steps);
  }
};

// What a run can be compared by: some kilobytes, no trace. Sums over names are exact: what is not
// among the longest names is in the row "(others)" of its kind.
struct RunSummary {
  std::string label;           // the path it was made of
  std::string level;           // of the capture: "Level1"; empty if unknown, "mixed" if several
  std::vector<int64_t> steps;  // ascending; {kNone} if the run marked none
  std::vector<RankRun> ranks;  // ascending
  std::vector<SumRow> rows;    // by kind, then by total, longest first
  // Of each kind, the largest total per rank and step among the names that are in "(others)": a
  // name that one run has and the other lacks may have been cut off there.
  std::array<int64_t, kRowKinds> cut_ns{};

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(label, level, steps, ranks, rows);
    for (int64_t& cut : cut_ns) archive(cut);
  }
};

// Keeps the longest names of each kind (of groups kGroupsKept) and puts the rest into "(others)";
// `cut_ns` tells the largest total among these, per rank and step. Rows come out by kind, then
// longest first.
inline constexpr size_t kRowsPerKind = 100;
inline constexpr size_t kGroupsKept =
    4096;  // of groups: large jobs have many, and none is the longest
void KeepLongest(std::vector<SumRow>& rows, size_t per_kind,
                 std::array<int64_t, kRowKinds>& cut_ns);

// Folds ranks into a run, one by one in ascending order. Memory grows with the ranks' steps and
// with distinct names, not with what the ranks recorded.
class RunFolder {
 public:
  void Add(RankPart part, std::string_view level);
  // Of runs with more than 256 steps so many are kept, evenly spread.
  RunSummary Finish(std::string label);

 private:
  size_t StepPlace(int64_t step);

  RunSummary run_;
  std::map<int64_t, size_t> step_places_;  // step -> place in the rows' vectors
  std::map<std::pair<RowKind, std::string>, size_t> row_places_;
};

// A part of the whole job in each step of `run.steps`: the mean over the ranks that have it; NaN
// where none has.
std::vector<double> JobValues(const RunSummary& run, StepPart part);
// The same over some ranks, by their places in run.ranks.
std::vector<double> ValuesOf(const RunSummary& run, const std::vector<size_t>& ranks,
                             StepPart part);
// Time per step and rank of a row.
std::vector<double> RowValues(const SumRow& row);
// Calls per step and rank, the median.
double CallsOf(const SumRow& row);

}  // namespace steplens::analysis::runs
