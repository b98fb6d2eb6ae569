#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace steplens::analysis {

// Every threshold of the rules, declared once: rule, name, default, meaning. Rule files, `advisor
// rules` and docs/advisor.md name them so; code reads settings.thresholds().<rule>_<name>.
#define SL_RULE_THRESHOLDS(X)                                                                      \
  X(overall, idle_share, 0.10, "device idle from which scheduling is blamed, share of the window") \
  X(overall, communication_share, 0.15, "exposed communication from which it is blamed")           \
  X(environment, aclnn_cache, 10000, "entries below which ACLNN_CACHE_LIMIT is reported")          \
  X(slow_rank, gap_share, 0.05, "spread of the ranks, share of the mean step")                     \
  X(stage_compute, gap_share, 0.05, "spread of computing inside of a pipeline stage")              \
  X(link_bandwidth, gap_share, 0.05, "spread of the ranks' bandwidth, share of its mean")          \
  X(packet, sdma_mb, 16, "size below which an SDMA operation is small")                            \
  X(packet, rdma_mb, 1, "size below which an RDMA operation is small")                             \
  X(packet, small_share, 0.2, "small operations from which they are reported")                     \
  X(contention, gbps, 14.4, "SDMA bandwidth below which a collective is slow")                     \
  X(retransmission, elapse_ms, 4000, "time of an operation on all ranks that one retry takes")     \
  X(byte_alignment, bytes, 512, "transfers are to be a multiple of this")                          \
  X(memory_calls, total_us, 10000, "time per step in one kind of memory call")                     \
  X(aicpu, kernel_us, 20, "AI CPU kernel that is worth a finding")                                 \
  X(dispatch, step_share, 0.01, "compilation time, share of the step")                             \
  X(dispatch, count, 20, "compilations that are reported where their time is unknown")             \
  X(block_dim, income_us, 1, "time that full cores would save in one kernel")                      \
  X(no_bound, ratio, 0.8, "utilisation of a pipe that makes a kernel bound by it")                 \
  X(no_bound, kernel_us, 20, "kernels shorter than this do not count")                             \
  X(frequency, drop, 0.05, "how far a clock is below the rated one")                               \
  X(core_performance, cube_mb, 100, "memory of a matrix product from which it is looked at")       \
  X(core_performance, cube_mac, 0.8, "mac ratio of a matrix product without head-room")            \
  X(core_performance, cube_mte2, 0.95, "mte2 ratio of a matrix product that is bound by it")       \
  X(core_performance, cube_inner, 256, "inner axes of matrix products are to be a multiple")       \
  X(core_performance, fa_mte2, 0.8, "mte2 ratio of an attention that is bound by it")              \
  X(core_performance, fa_vec, 0.75, "vec ratio of an attention that is bound by it")               \
  X(core_performance, fa_fixpipe, 0.75, "the same of the fixpipe of its gradient")                 \
  X(core_performance, fa_inner, 128, "head and sequence sizes are to be a multiple")               \
  X(core_performance, vector_sum, 0.9, "vec, mte2 and mte3 together: a vector kernel is bound")    \
  X(core_performance, vector_pipe, 0.7, "one pipe of a vector kernel that is bound by it")         \
  X(core_performance, vector_share, 0.01, "share of kernel time of a type that is looked at")      \
  X(sdma_copy, step_share, 0.03, "copies on the streams of kernels, share of the step")            \
  X(sync_stream, ratio, 0.5, "launches that a synchronisation follows")                            \
  X(sync_stream, step_share, 0.05, "time in synchronisations, share of the step")                  \
  X(syncbn, count, 20, "SyncBatchNorm calls per step")                                             \
  X(gc, pause_us, 1000, "garbage collection that is worth a finding")                              \
  X(conjectured_gc, gap_us, 200000, "idle time from which a pause is suspected")                   \
  X(conjectured_gc, acl_share, 0.01, "of it in API calls, at most")                                \
  X(conjectured_gc, acl_per_us, 0.0001, "API calls per us of it, at most")                         \
  X(dataloader, call_us, 10000, "fetching a batch that is worth a finding")                        \
  X(fusible_ops, longest, 10, "kernels of a sequence, at most")                                    \
  X(fusible_ops, shortest, 3, "kernels of a sequence, at least")                                   \
  X(fusible_ops, count, 5, "a sequence must come more often than this")                            \
  X(fusible_ops, busy_share, 0.4, "a sequence is bound by the host below")                         \
  X(fusible_ops, mte_share, 0.8, "a sequence is bound by moving data above")                       \
  X(fusible_ops, time_share, 0.01, "share of the window of a sequence bound by the host")

// The numbers of SL_RULE_THRESHOLDS.
struct RuleThresholds {
#define SL_DECLARE_THRESHOLD_(rule, name, value, meaning) double rule##_##name = value;
  SL_RULE_THRESHOLDS(SL_DECLARE_THRESHOLD_)
#undef SL_DECLARE_THRESHOLD_
};

// A threshold by its name in files and lists.
struct ThresholdSpec {
  std::string_view rule;
  std::string_view name;
  double value;  // the default
  std::string_view meaning;
  double RuleThresholds::* member;
};
const std::vector<ThresholdSpec>& ThresholdSpecs();

// A sequence of operators or kernels that something else replaces (sequence_rules.h).
struct Replacement {
  std::string words;
  std::string by;
  std::string note{};
};

// A sub-graph that a fusion pass of the compiler would replace: node i has one of the types[i].
struct FusionPattern {
  std::string pass{};
  std::vector<std::vector<std::string>> types{};
  std::vector<std::pair<size_t, size_t>> edges{};
};

// Cores and clock of a chip, by the name that captures give.
struct ChipCores {
  int64_t cube = 0;
  int64_t vector = 0;
  double mhz = 0;
};

// What users may change about the rules (docs/advisor.md, "Rule files").
struct RuleSettings {
  RuleThresholds thresholds{};
  std::set<std::string, std::less<>> disabled{};                 // names of rules
  std::map<std::string, std::string, std::less<>> priorities{};  // "high" by rule
  std::vector<Replacement> affinity{};                           // before the built-in ones
  std::vector<Replacement> fusion{};
  std::vector<FusionPattern> graph{};
  std::map<std::string, ChipCores, std::less<>> chips{};
  double peak_flops_per_s = 0;  // of the device, if the user says it; 0: by its name
  double bytes_per_s = 0;
  bool replaces_affinity = false;  // the built-in ones are not asked
  bool as_reference = false;       // its judgement, with those defects that can be emulated
};

}  // namespace steplens::analysis
