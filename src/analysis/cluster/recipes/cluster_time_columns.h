#pragma once

namespace steplens::analysis::cluster {

// The times of ClusterTimeSummary, in microseconds, in the order of its columns.
struct TimeColumn {
  const char* name;    // in cluster_analysis.db
  const char* header;  // in the csv
};
inline constexpr TimeColumn kTimeColumns[] = {
    {"stepTime", "Step Time(us)"},
    {"computation", "Computation(us)"},
    {"communicationNotOverlapComputation", "Communication Not Overlap Computation(us)"},
    {"communicationOverlapComputation", "Communication Overlap Computation(us)"},
    {"communication", "Communication(us)"},
    {"free", "Free(us)"},
    {"communicationWaitStageTime", "Communication Wait Stage Time(us)"},
    {"communicationTransmitStageTime", "Communication Transmit Stage Time(us)"},
    {"memory", "Memory(us)"},
    {"memoryNotOverlapComputationCommunication",
     "Memory Not Overlap Computation Communication(us)"}};

}  // namespace steplens::analysis::cluster
