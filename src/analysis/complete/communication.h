#pragma once

#include "store/trace_store.h"

namespace steplens::analysis {

// Fills the ratios of comm_times that are not known, and appends 'Total Op Info' to comm_times,
// comm_bandwidths and comm_packets for each step and kind that lacks it: a db has neither.
void AddCommunicationTotals(store::TraceStore& store);

// Fills comm_times, comm_bandwidths, comm_packets and comm_links of a raw capture from the tasks of
// its collectives, as result files have them; level 0 has none.
void KeepCommunication(store::TraceStore& store);

// Timelines of CANN 8.0 number their groups ("Group 0 Communication"). communication.json knows
// which group its operations belong to: comm_ops and comm_tasks get that name instead.
void NameCommunicationGroups(store::TraceStore& store);

// Sizes of collectives that are not known, where the count and the type of their elements are.
void FillCommunicationSizes(store::TraceStore& store);

}  // namespace steplens::analysis
