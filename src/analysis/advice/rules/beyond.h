#pragma once

#include <span>
#include <vector>

#include "analysis/advice/rank_evidence.h"

// The rules that go beyond rules of thumb: what a replay of the step, the whole capture or a
// comparison of ranks tells. docs/advisor.md says what each needs.

namespace steplens::analysis {

// What the capture itself lacks, so that findings are less sure.
std::vector<Finding> FindDataHygiene(const RankEvidence& rank);

// Operators far below what the device could reach at their FLOPs and bytes.
std::vector<Finding> FindRooflineGaps(const RankEvidence& rank);
// Copies that only change types and layouts, by their operators (GPU and CPU).
std::vector<Finding> FindConversionOps(const RankEvidence& rank);
// Forward operators that run again in the backward pass.
std::vector<Finding> FindRecomputing(const RankEvidence& rank);

// Rows of operators so small that calling them is what takes time.
std::vector<Finding> FindLaunchBound(const RankEvidence& rank);
// Waits of the host for the device in the middle of a step, and .item() on the host.
std::vector<Finding> FindHostSyncs(const RankEvidence& rank);
// Operators whose host time now and then is much longer than usual.
std::vector<Finding> FindCpuContention(const RankEvidence& rank);
// Steps that take much longer than the others.
std::vector<Finding> FindStepJitter(const RankEvidence& rank);

// Collectives that are too small for the network, and those that neither wait nor transfer.
std::vector<Finding> FindSmallCollectives(const RankEvidence& rank);
std::vector<Finding> FindIdleCollectives(const RankEvidence& rank);

// Memory: allocated memory that grows from step to step, reserved memory that nobody uses, calls
// into the device's allocator.
std::vector<Finding> FindMemoryGrowth(const RankEvidence& rank);
std::vector<Finding> FindFragmentation(const RankEvidence& rank);
std::vector<Finding> FindAllocatorCalls(const RankEvidence& rank);

// Of whole jobs.
std::vector<Finding> ComparePipelines(std::span<const RankEvidence> ranks);
std::vector<Finding> CompareExperts(std::span<const RankEvidence> ranks);
std::vector<Finding> CompareKernels(std::span<const RankEvidence> ranks);

}  // namespace steplens::analysis
