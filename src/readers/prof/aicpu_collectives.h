#pragma once

#include "readers/prof/aicpu_records.h"
#include "readers/prof/collectives.h"

namespace steplens::readers::prof {

// Collectives whose tasks a kernel on AI CPU makes while it runs: the host knows the kernel alone.
// Their tasks are added to `collectives`: to the host's collective that launched the kernel, else
// to one of their own.
void AddAicpuCollectives(const std::vector<AscendTask>& tasks, const TaskIndex& index,
                         const HostTasks& host, const HostRecords& records,
                         const AicpuRecords& aicpu, const SideClock& clock, StringPool& strings,
                         Dictionary& names, Collectives& collectives);

}  // namespace steplens::readers::prof
