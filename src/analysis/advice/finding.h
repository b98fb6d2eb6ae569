#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/overlap/overlap.h"
#include "analysis/text/message.h"
#include "analysis/whatif/edit.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// Every rule; registry.cc has their names and what they need.
enum class RuleId : uint8_t {
  kLateRank,
  kLateGroup,
  kUnevenLoad,
  kSlowLink,
  kSmallPackets,
  kExposedCommunication,
  kConversion,
  kHostBound,
  kDependency,
  kLaunch,
  kUnsteadyKernel,
  kAicpu,
  kFrequency,
  kFusion,
  kAffinityApi,
  kAffinityOptimizer,
  kDispatch,
  kByteAlignment,
  kContention,
  kRetransmission,
  // What the advisor asks besides (docs/advisor.md).
  kOverall,
  kEnvironment,
  kSlowRank,
  kLinkBandwidth,
  kStageCompute,
  kPacket,
  kMemoryCalls,
  kDynamicShape,
  kBlockDim,
  kNoBound,
  kCorePerformance,
  kGraphFusion,
  kSdmaCopy,
  kSyncStream,
  kSyncBn,
  kGc,
  kConjecturedGc,
  kDataloader,
  kFusibleOps,
  kComparison,

  // Beyond what a rule of thumb can say (rules/beyond.h); added at the end.
  kDataHygiene,
  kRoofline,
  kLaunchBound,
  kHostSync,
  kConversionOps,
  kPipelineBubble,
  kSmallCollectives,
  kCollectiveIdle,
  kMemoryGrowth,
  kFragmentation,
  kAllocatorCalls,
  kStepJitter,
  kExpertBalance,
  kKernelDrift,
  kRecompute,
  kCpuContention,
};

// "late_rank": the rule in tables; "rule.late_rank" is its title in the catalogue.
std::string_view RuleName(RuleId rule);

enum class Confidence : uint8_t {
  kMeasured,   // the evidence shows it, and what it costs was measured or replayed
  kEstimated,  // the evidence shows it, what it costs is a bound
  kHint,       // worth a look
};
std::string_view ConfidenceName(Confidence confidence);  // "measured"

// How urgent a finding is: by its share of the step, unless the rule knows better.
enum class Priority : uint8_t { kLow, kMedium, kHigh };
std::string_view PriorityName(Priority priority);  // "low"
std::optional<Priority> PriorityFrom(std::string_view name);

// What has to be changed.
enum class Effort : uint8_t { kSetting, kCode, kModel, kHardware };
std::string_view EffortName(Effort effort);  // "setting"

// What a step would gain, in ms.
struct Saving {
  std::optional<double> ms;  // by a replay of the job; nothing where only the bound is known
  double at_most_ms = 0;     // its category has no more, or no more of it can be hidden

  double Best() const { return ms.value_or(at_most_ms); }
};

// Where to look: what the timeline jumps to.
struct Place {
  int64_t rank = 0;
  Interval range{};  // epoch ns
  store::SliceId slice = store::kNoSlice;
  std::string name{};  // of the slice; empty: the range alone
};

struct Finding {
  // A number behind the sentence, and the SQL that gives it.
  struct Evidence {
    Message text;
    std::string query;
  };

  RuleId rule = RuleId::kLateRank;
  Message subject;  // "rank 5", "link 3-4", a group, a kernel
  Message reason;
  Message advice;
  std::vector<int64_t> ranks;
  std::optional<Saving> saving{};
  bool is_hidden = false;  // something slower hides it: it saves nothing until that is fixed
  std::string felt_in{};   // the kind of group where the others wait most
  Confidence confidence = Confidence::kHint;
  Effort effort = Effort::kCode;
  std::vector<Place> places{};
  std::vector<Evidence> evidence{};
  // Not below this one: faults, and what says nothing of a share of the step.
  Priority least_priority = Priority::kLow;
  std::optional<Priority> set_priority{};  // what a rule file says, whatever it costs
  // All rows that the sentence sums up, one table per rank: sheets of the workbook.
  std::vector<table::Table> details{};
  // What it advises as edits of the step graph, where ChangeOf cannot tell from the rule alone.
  std::vector<Edit> change{};
  Message verify{};  // what to record again, and which number should change to what

  Message WholeReason() const;  // with what hides it
};

// "0,1,2,...,7,... (16 ranks)": the first few.
std::string ShortRanks(const std::vector<int64_t>& ranks);

}  // namespace steplens::analysis
