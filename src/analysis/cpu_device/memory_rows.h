#pragma once

#include <functional>

#include "store/trace_store.h"

namespace steplens::analysis {

// Brings the memory rows of a raw capture into the form of memory_record.csv and
// operator_memory.csv: samples of the whole application first, then those of the framework (PTA)
// and of the graph engine (GE) by time, each followed by a row PTA+GE with the sum of both on its
// device, WORKSPACE among them, other components last; allocations that CANN reports are called
// "cann::<name>" and follow those of the framework.
void OrderMemoryRows(store::TraceStore& store);

// The same in two parts, for a store whose rows are only written: the sums, which are as many rows
// again, never exist at once. Name first; ForEachMemorySample then visits the rows of the file. It
// visits those of a store that has the sums already as they are.
void NameMemoryRows(store::TraceStore& store);
void ForEachMemorySample(const store::TraceStore& store,
                         const std::function<void(const store::MemorySampleTable::Row&)>& visit);

}  // namespace steplens::analysis
