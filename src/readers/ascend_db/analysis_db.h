#pragma once

#include "readers/ascend_db/db_context.h"

namespace steplens::readers {

// StepTraceTime -> step_traces, CommAnalyzerTime -> comm_times, CommAnalyzerBandwidth ->
// comm_bandwidths and comm_packets, CommAnalyzerMatrix -> comm_links. Units as written: step times
// in us, communication in ms and 10^6 bytes. Without communication only the step table.
Status ReadAnalysisTables(DbContext& db, bool with_communication);

}  // namespace steplens::readers
