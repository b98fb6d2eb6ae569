#pragma once

#include <vector>

#include "analysis/breakdown/breakdown.h"
#include "analysis/verify/check.h"

// Every rule, one function each; verify.cc lists them in the order they are reported.

namespace steplens::analysis::verify {

// steps.cc: step_trace_time against itself, the kernels and the Overlap Analysis track.
CheckResult CheckPartsFillStage(const Context& context);
CheckResult CheckOverlapAddsUp(const Context& context);
CheckResult CheckComputingIsUnion(const Context& context);
CheckResult CheckCommunicationIsUnion(const Context& context);
CheckResult CheckCommunicationIsElapse(const Context& context);
CheckResult CheckOverlapTrack(const Context& context);
CheckResult CheckExcludeReceive(const Context& context);
CheckResult CheckStepValues(const Context& context);
CheckResult CheckStepMarks(const Context& context);
CheckResult CheckStepsOnce(const Context& context);

// breakdown.cc: step_trace_time against the breakdown of the timeline, and that against itself.
CheckResult CheckBreakdown(const Context& context, const std::vector<StepParts>& breakdown);
CheckResult CheckBreakdownParts(const Context& context);

// statistics.cc: the summed-up files against what they sum up.
CheckResult CheckOpStatistic(const Context& context);
CheckResult CheckApiStatistic(const Context& context);

// host_ops.cc: operator_details against the timeline.
CheckResult CheckHostOps(const Context& context);
CheckResult CheckHostOpOrder(const Context& context);
CheckResult CheckHostOpTimes(const Context& context);
CheckResult CheckDeviceSelf(const Context& context);
CheckResult CheckDeviceSelfAiCore(const Context& context);

// flows.cc: arrows and what they point at.
CheckResult CheckOpFlows(const Context& context);
CheckResult CheckLaunchFlows(const Context& context);
CheckResult CheckDanglingFlows(const Context& context);
CheckResult CheckDbLaunches(const Context& context);

// kernels.cc: kernel_details against the timeline and its own rules.
CheckResult CheckKernelStarts(const Context& context);
CheckResult CheckKernelDurations(const Context& context);
CheckResult CheckL2Cache(const Context& context);
CheckResult CheckKernelOrder(const Context& context);
CheckResult CheckKernelWait(const Context& context);
CheckResult CheckKernelStep(const Context& context);
CheckResult CheckStreamOverlap(const Context& context);

// gpu.cc: the timeline of a GPU and the calls that launch its work.
CheckResult CheckGpuStreams(const Context& context, Verdict& verdict);  // for CheckStreamOverlap
CheckResult CheckLaunchOrder(const Context& context);
CheckResult CheckLaunchedKernels(const Context& context);
CheckResult CheckCopySizes(const Context& context);

// memory.cc: memory_record and operator_memory.
CheckResult CheckMemorySums(const Context& context);
CheckResult CheckAllocationTotals(const Context& context);
CheckResult CheckAllocationDurations(const Context& context);
CheckResult CheckAllocationBalance(const Context& context);
CheckResult CheckModuleSamples(const Context& context);

// communication.cc: communication.json and communication_matrix.json.
CheckResult CheckCommTimes(const Context& context);
CheckResult CheckCommMatrix(const Context& context);
CheckResult CheckCommTotals(const Context& context);
CheckResult CheckCommBandwidth(const Context& context);
CheckResult CheckCommLinks(const Context& context);
CheckResult CheckCommOpsInTrace(const Context& context);

// hygiene.cc: what must hold for any capture.
CheckResult CheckImportIssues(const Context& context);
CheckResult CheckDurations(const Context& context);
CheckResult CheckSession(const Context& context);
CheckResult CheckRankId(const Context& context);

}  // namespace steplens::analysis::verify
