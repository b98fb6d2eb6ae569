#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "readers/prof/prof_clock.h"
#include "readers/prof/prof_files.h"
#include "store/issues.h"
#include "store/trace_store.h"

namespace steplens::readers::prof {

// Chips that records depend on.
enum Chip : int64_t {
  kChip310 = 0,
  kChip910A = 1,
  kChipMdc = 2,
  kChip610 = 3,
  kChip310P = 4,
  kChip910B = 5,
  kChip310B = 7,
  kChipNano = 9,
  kChip950 = 15,  // and 16
};

// Counters of a record at most; chips before 950 have eight.
inline constexpr size_t kMaxCounters = 10;

// Counters that a kind of AI core was told to count.
struct CounterSetup {
  std::string group;             // PipeUtilization, ...
  std::vector<uint32_t> events;  // the k-th counter of a record is that of the k-th event
};

// What info.json, sample.json, start_info, end_info and the logs of one side say. What is missing
// has a default: a capture is read as far as it goes.
struct Control {
  ClockFacts clock;
  int64_t chip = kChip910B;
  int64_t pid = 0;
  int64_t driver_version = 0;
  int64_t rank = store::kNone;
  std::string process_name;
  std::string host_name;
  std::string host_uid;
  std::string cann_version;
  std::string version;  // "2.0" has other layouts of some samples
  double memory_kb = 0;
  int64_t cpu_count = 0;
  double card_speed_mbps = 0;  // of all network cards together
  std::vector<std::string> card_names;
  int64_t aic_mhz = 0;
  int64_t aic_cores = 0;
  int64_t aiv_cores = 0;
  std::string level;  // l0, l1, ... as written
  CounterSetup aic;
  CounterSetup aiv;
  bool is_sample_based = false;
  std::string llc_mode;  // read, write
  std::vector<uint32_t> l2_events;
  std::vector<uint32_t> smmu_events;  // of the unit that translates addresses
  std::vector<std::string> qos_events;
  std::string hbm_events;   // "read,write"
  bool is_dynamic = false;  // attached to a running process
};

Control ReadControl(const Side& side, store::IssueLog& issues);

// Whether task ids can be told apart by their wraps, so that the whole capture is one.
bool HasUniqueTasks(const Control& control);
// Whether the layouts of the chip's task records are known.
bool IsKnownChip(int64_t chip);
// Chips 15 and 16: records of their own, and ids of tasks that do not wrap.
bool Is950(int64_t chip);
// STARS schedules the tasks; earlier chips have the hardware task scheduler.
bool HasStars(int64_t chip);
std::string ChipName(int64_t chip);
bool IsLevel0(const Control& control);

}  // namespace steplens::readers::prof
