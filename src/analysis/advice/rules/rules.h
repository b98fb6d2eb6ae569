#pragma once

#include <span>
#include <vector>

#include "analysis/advice/rank_evidence.h"

// The rules about one rank by their functions; registry.cc has their names and what they need.

namespace steplens::analysis {

// Communication that no computing hides, by group. At most what computing there is could hide.
std::vector<Finding> FindExposedCommunication(const RankEvidence& rank);
// Kernels that only change types and layouts of data.
std::vector<Finding> FindConversions(const RankEvidence& rank);

// Why the device is free.
std::vector<Finding> FindHostBound(const RankEvidence& rank);
std::vector<Finding> FindDependencies(const RankEvidence& rank);
std::vector<Finding> FindLongLaunches(const RankEvidence& rank);

// Kernels that now and then take much longer than others of their name and shapes.
std::vector<Finding> FindUnsteadyKernels(const RankEvidence& rank);
std::vector<Finding> FindAicpuOperators(const RankEvidence& rank);
std::vector<Finding> FindFrequencyDrops(const RankEvidence& rank);

// What could be written in a faster way.
std::vector<Finding> FindFusions(const RankEvidence& rank);
std::vector<Finding> FindAffinityApis(const RankEvidence& rank);
std::vector<Finding> FindAffinityOptimizers(const RankEvidence& rank);

// The window as a whole.
std::vector<Finding> SummariseOverall(const RankEvidence& rank);
std::vector<Finding> FindSdmaCopies(const RankEvidence& rank);
std::vector<Finding> CheckEnvironment(const RankEvidence& rank);
std::vector<Finding> CompareEnvironments(std::span<const RankEvidence> ranks);

// Calls of the host that the device waits for.
std::vector<Finding> FindMemoryCalls(const RankEvidence& rank);
std::vector<Finding> FindCompilations(const RankEvidence& rank);
std::vector<Finding> FindStreamSyncs(const RankEvidence& rank);
std::vector<Finding> FindSyncBatchNorms(const RankEvidence& rank);
std::vector<Finding> FindCollections(const RankEvidence& rank);
std::vector<Finding> FindConjecturedGc(const RankEvidence& rank);
std::vector<Finding> FindSlowLoading(const RankEvidence& rank);

// Kernels by their shapes and counters.
std::vector<Finding> FindDynamicShapes(const RankEvidence& rank);
std::vector<Finding> FindUnfilledCores(const RankEvidence& rank);
std::vector<Finding> FindUnboundKernels(const RankEvidence& rank);
std::vector<Finding> JudgeCorePerformance(const RankEvidence& rank);
std::vector<Finding> FindFusibleSequences(const RankEvidence& rank);
std::vector<Finding> MatchFusionPasses(const RankEvidence& rank);

// Transfers.
std::vector<Finding> FindSmallPackets(const RankEvidence& rank);
std::vector<Finding> FindUnalignedTransfers(const RankEvidence& rank);
std::vector<Finding> FindContention(const RankEvidence& rank);
std::vector<Finding> FindRetransmissions(const RankEvidence& rank);

}  // namespace steplens::analysis
