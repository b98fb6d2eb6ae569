#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "table/table.h"

namespace steplens::record {

// Something that was asked for and is done otherwise, with the reason.
struct Change {
  std::string option;
  std::string reason;
};

// What to record, under the names of the --profile* options. Steps count from 1, as training
// iterations do.
struct Config {
  int64_t step_start = 2;
  int64_t step_end = 5;               // the first that is no longer recorded; -1: to the end
  std::vector<int64_t> ranks = {-1};  // exactly {-1}: all
  std::string level = "level1";       // level_none, level0, level1, level2
  std::vector<std::string> export_types = {"text"};  // text, db
  bool data_simplification = false;
  bool with_cpu = false;
  bool with_stack = false;
  bool with_modules = false;
  bool with_memory = false;
  bool record_shapes = false;
  int64_t warmup = 0;  // steps before the first that are collected and thrown away
  int64_t repeat = 1;  // how often such a range of steps is recorded; 0: without end
  int64_t wait = 0;    // steps between the end of one and the warm-up of the next
  bool with_flops = false;
  std::string aic_metrics{};  // name of a metric group; empty: the level's default
  bool l2_cache = false;
  bool op_attr = false;
  bool record_op_args = false;
  bool mstx = false;
  std::vector<std::string> mstx_include{};  // domains kept, if not empty
  std::vector<std::string> mstx_exclude{};  // domains left out, if nothing is included
  bool sys_io = false;
  bool sys_interconnection = false;
  std::vector<std::string> host_sys{};  // cpu, mem, disk, network, osrt, numa
  std::optional<double> gc_threshold_ms{};
  std::string save_path = "./profile_dir";
  std::string worker_name{};     // first part of the captures' names; empty: the host's
  std::string analyse = "sync";  // sync, async, no
  std::string job{};             // name of the job, for start, stop and status
  std::string control_dir{};     // its folder; empty: the job cannot be steered
  bool wait_for_start = false;   // record nothing until `record start`
  std::vector<Change> changes{};
};

// Which settings of a pasted MindSpeed-LLM command line were given.
struct GivenSettings {
  bool step_start = false;
  bool step_end = false;
  bool ranks = false;
  bool level = false;
  bool save_path = false;
};

// Makes of a config that --profile came with what MindSpeed-LLM's documents promise: settings that
// were not given get the documented defaults (all steps, rank 0, level0, ./profile), step 0 is the
// first, -1 among ranks means all, and steps that cannot be are replaced, each with a note.
void ApplyMindSpeedRules(const GivenSettings& given, Config& config);

// What decides whether a setting can be honoured here.
struct Machine {
  bool has_npu = false;  // a vendor library or device is there
  static Machine Here();
};

// Refuses what is impossible, completes what follows from other settings, and notes every change.
Status Settle(Config& config, const Machine& machine);

// One JSON object on one line: what STEPLENS_RECORD carries into the program. A profile_step_start
// of -1 waits for `record start`.
std::string ToJson(const Config& config);

// The settings as people read them: option, value, and why it differs from what was asked for.
table::Table ToTable(const Config& config);

}  // namespace steplens::record
