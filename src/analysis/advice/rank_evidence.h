#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/advice/host_events.h"
#include "analysis/advice/settings.h"
#include "analysis/classify/classify.h"
#include "analysis/collectives/comm_data.h"
#include "analysis/compare/overall.h"
#include "analysis/explain/free_causes.h"
#include "analysis/facts/rank_view.h"
#include "analysis/operators/host_ops.h"
#include "analysis/overlap/cover.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// The times of a rank's steps, summed over its steps and devices, as `steplens breakdown` has them.
// Without steps the whole capture is one.
struct StepTimes {
  size_t steps = 1;
  int64_t step_ns = 0;  // their step time (breakdown/step_times.h), which shares are of
  int64_t computing_ns = 0;
  int64_t exposed_ns = 0;     // communication that no computing hides
  int64_t overlapped_ns = 0;  // communication that computing hides
  int64_t free_ns = 0;
};
StepTimes MeasureSteps(const RankView& rank);

// What the rules of all ranks share: settings, and facts about the job that are worked out once.
struct AdviceContext {
  RuleSettings settings{};
  std::optional<CommData> communication{};  // when it is first asked for
  // Texts of compiled graphs (*Build.txt), which analyses cannot open; by rank.
  struct GraphDump {
    int64_t rank = 0;
    std::string name;
    std::string text;
  };
  std::vector<GraphDump> graphs{};
};

// What a rule about a rank looks at. Lives for one Advise; for one thread.
class RankEvidence {
 public:
  // `rank_index` is one of the job's ranks. The job and the context must outlive this. Without a
  // context the settings are the defaults.
  RankEvidence(const store::Job& job, uint32_t rank_index, AdviceContext* context = nullptr);
  // The same with what is already known of the rank.
  RankEvidence(const store::Job& job, const RankView& view, AdviceContext* context = nullptr);

  const store::Job& job() const { return job_; }
  const store::TraceStore& store() const { return job_.ranks[rank_index_]; }
  int64_t rank() const { return store().info.rank; }
  Platform platform() const { return view_.platform(); }
  // What was captured is Ascend's, be it that nothing ran on the device.
  bool is_ascend() const { return is_ascend_; }
  bool is_torch_npu() const;
  // Nothing that was captured is another device's.
  bool may_be_ascend() const;
  // The host itself is the device: its operators are what computes.
  bool is_on_host() const { return is_on_host_; }
  const RankView& view() const { return view_; }

  const RuleSettings& settings() const { return context().settings; }
  const RuleThresholds& thresholds() const { return settings().thresholds; }
  AdviceContext& context() const { return given_ != nullptr ? *given_ : own_; }
  const HostEvents& host_events() const;
  // How the window divides by kinds of work; nothing where no device work was recorded.
  const std::optional<compare::Overall>& overall() const;
  // Of the host's time. Without steps all of it counts.
  bool IsInHostSteps(int64_t ts_ns) const;
  // The free time of all devices, in steps.
  const Cover& free_time() const;
  // Whether anything is known of what the device did.
  bool knows_device() const { return times_.computing_ns > 0 || times_.exposed_ns > 0; }
  const std::vector<TrackKind>& tracks() const { return view_.tracks(); }

  const StepTimes& times() const { return times_; }
  double step_us() const { return PerStepUs(times_.step_ns); }
  // Device time of the steps; time outside of them does not count.
  const Cover& in_steps() const { return in_steps_; }
  bool IsInSteps(int64_t ts_ns) const;
  // A kernel, by its own step where the capture says it.
  bool IsKernelInSteps(size_t kernel) const {
    return store().kernels.step[kernel] != store::kNone ||
           IsInSteps(store().kernels.begin_ns[kernel]);
  }
  std::vector<Interval> InSteps(const std::vector<Interval>& intervals) const;
  // In steps only, of all devices.
  std::vector<Interval> Exposed() const;
  const FreeCauses& free_causes() const;
  const HostOps& host_ops() const;
  const CommData& communication() const;  // of all ranks

  double PerStepUs(int64_t ns) const;
  // `ns` of a category that has no more than `limit_ns`, as what a step saves at most.
  Saving AtMost(int64_t ns, int64_t limit_ns) const;
  // "12.3": the share of the step time, in percent.
  std::string Percent(int64_t ns) const;
  // What is worth a finding: 5 % of the step time.
  bool IsNoticeable(int64_t ns) const;

  Place PlaceOf(Interval range) const { return {rank(), range, store::kNoSlice, ""}; }
  Place PlaceOfSlice(store::SliceId slice) const;
  Place PlaceOfKernel(uint32_t kernel) const;
  // A table of a finding's details: "aicpu rank 0".
  std::string DetailName(RuleId rule) const;
  // A finding about this rank.
  Finding Make(RuleId rule, Message subject, Message reason, Message advice) const;

 private:
  const store::Job& job_;
  uint32_t rank_index_;
  RankView view_;
  StepTimes times_;
  Cover in_steps_;
  mutable std::optional<FreeCauses> free_causes_;
  Cover in_host_steps_;
  bool is_on_host_ = false;
  bool is_ascend_ = false;
  AdviceContext* given_;
  mutable AdviceContext own_;
  mutable std::optional<HostEvents> host_events_;
  mutable std::optional<HostOps> host_ops_;
  mutable std::optional<Cover> free_time_;
  mutable bool has_measured_overall_ = false;
  mutable std::optional<compare::Overall> overall_;
};

// "12.3 us", "1.234 ms": a time in a sentence.
std::string SentenceTime(double us);

}  // namespace steplens::analysis
