#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::collect {

// What STEPLENS_RECORD asks for: the --profile* options of `steplens record`, as far as a native
// program can honour them.
struct AutoConfig {
  bool has_steps = false;             // a range of steps was given
  int64_t step_start = 1;             // steps count from 1
  int64_t step_end = -1;              // the first that is no longer recorded; -1: to the end
  std::vector<int64_t> ranks = {-1};  // exactly {-1}: all
  std::string level = "Level1";
  std::vector<std::string> export_types = {"text"};
  uint32_t host_sources = 0;  // sl_host_source bits
  std::string save_path = "./profile_dir";
  bool wait_for_start = false;  // nothing is recorded until a command comes; also: step_start is -1
  std::string control_dir;      // where commands come from; empty: nowhere
  std::string analyse = "no";   // when a capture has ended: sync, async, no
};

// All of `text` as a decimal number.
std::optional<int64_t> ParseInteger(std::string_view text);

// A JSON object; keys that are not known are ignored, values of the wrong type count as not given.
// nullopt if it is no JSON object.
std::optional<AutoConfig> ParseAutoConfig(std::string_view json);

// Whether rank `rank` (-1: not known, then it counts as 0) is to be recorded.
bool IsRankWanted(const AutoConfig& config, int64_t rank);

// "config" of profiler_info.
std::string ConfigJson(const AutoConfig& config);

// The rank of this process as launchers tell it: RANK, then those of MPI and Slurm; -1: not known.
// `*is_text` is true for RANK, whose value other tools write as a text.
int64_t RankFromEnvironment(bool* is_text);

// "<host>_<pid>_<YYYYmmddHHMMSSmmm>_ascend_pt", local time.
std::string CaptureName(std::string_view worker);

}  // namespace steplens::collect
