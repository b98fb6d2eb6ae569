#pragma once

#include <span>

#include "analysis/duration_stats.h"
#include "analysis/selection.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// What kernels are grouped by, and the columns that name a group.
enum class KernelGrouping : uint8_t {
  kType,   // OP Type, Core Type: the rows of op_statistic.csv
  kName,   // Name, Core Type
  kShape,  // Name, Input Shapes, Core Type
  kCore,   // Core Type
};

// Whether communication is listed: NCCL and RCCL kernels, whole collectives of Ascend. What is not
// listed does not count for Ratio(%) either.
enum class CommunicationRows : uint8_t {
  kDefault,  // Ascend: kExclude, as in op_statistic.csv; GPU: kInclude
  kInclude,
  kExclude,
  kOnly,
};

struct KernelStatisticsOptions {
  KernelGrouping by = KernelGrouping::kType;
  CommunicationRows communication = CommunicationRows::kDefault;
  Selection selection;
  bool per_rank = false;  // a Rank column and a group per rank; otherwise groups span the ranks
};

// Count, Total/Min/Avg/Max Time(us) and Ratio(%) (share of the total; of the rank's total if
// per_rank) of each group, by total descending, then by name.
//
// Ascend rows come from kernels, without them from the hardware streams (then type and core are
// empty); collectives that kernels do not list come from comm_ops. GPU rows are kernels, copies and
// memsets: type and core say which (kernel, memcpy, memset), the shapes are those of the launching
// host operator.
table::Table KernelStatistics(const store::Job& job, const KernelStatisticsOptions& options);
table::Table KernelStatistics(std::span<const store::TraceStore> ranks,
                              const KernelStatisticsOptions& options);

// The communication that such a table leaves out.
DurationStats LeftOutCommunication(const store::Job& job, const KernelStatisticsOptions& options);

}  // namespace steplens::analysis
