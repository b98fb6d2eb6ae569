#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/overlap/overlap.h"
#include "analysis/overlap/sweep.h"
#include "export/timeline.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// A stretch of time in which a device computed, communicated, did the latter alone, or nothing.
struct OverlapPiece {
  int64_t device = 0;
  analysis::PieceKind kind = analysis::PieceKind::kFree;
  analysis::Interval time;
};

// What the writers of a PROF folder's results share. The store must outlive it.
struct ProfFacts {
  explicit ProfFacts(const store::TraceStore& of_store);

  // Whether a row of device_tasks is the device's side of a user's mark.
  bool IsMark(size_t task) const { return store.device_tasks.type[task] == mark_type; }
  // Whether a row of kernels is a collective, which has no task of its own.
  bool IsCollective(size_t kernel) const {
    return store.kernels.device_task[kernel] == store::kNone;
  }
  // What a task is called: the operator's kind, else what the runtime calls it.
  StringId TypeOf(size_t task) const;

  const store::TraceStore& store;
  Timeline timeline;
  std::vector<uint32_t> kernel_of;  // of each device task: its row of kernels, or kNoId
  std::vector<int64_t> devices;     // ascending
  StringId mark_type;
  int64_t pid = 0;
  int64_t chip = 0;
  int64_t cpu_count = 0;
  int64_t begin_ns = 0;  // of the capture
  int64_t end_ns = 0;
  double memory_kb = 0;
  double card_speed_mbps = 0;
  std::string_view process_name;
  bool is_level0 = false;
  bool has_stars = true;  // the chip has two kinds of cores and sub-tasks
  std::vector<OverlapPiece> overlap;

 private:
  std::string_view Fact(std::string_view name) const;
  int64_t Number(std::string_view name) const;
  void FindOverlap();
};

// "0.001" steps, as the csv files have their numbers.
double RoundToThree(double value);

// The row of a mark's device side by connection: device_tasks; kNoId if there is none.
inline constexpr int64_t kPlainMarkConnection = 4'000'000'000;

// One iteration of a graph, from the slices of its track.
struct ProfIteration {
  int64_t device = 0;
  int64_t model = 0;
  int64_t index = 0;
  store::TrackId track = store::kNoTrack;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t forward_ns = store::kNone;   // start of the forward pass
  int64_t backward_ns = store::kNone;  // end of the backward pass
  int64_t bound_ns = 0;                // from the iteration before to the forward pass
  std::vector<uint32_t> slices;        // its own first
  std::vector<uint32_t> reduces;
};
std::vector<ProfIteration> FindProfIterations(const ProfFacts& facts);

// The samples of the counters of a process, by series name and label.
struct SampleSeries {
  std::string_view name;
  std::string_view label;
  int64_t device = 0;
  std::vector<std::pair<int64_t, double>> samples;  // time and value
};
std::vector<SampleSeries> SeriesOf(const ProfFacts& facts, std::string_view process);

// A table that the reader made; null if there is none.
const store::DynamicTable* FindSheet(const store::TraceStore& store, std::string_view name);

}  // namespace steplens::exporting
