#pragma once

#include "base/status.h"
#include "readers/ascend_text/text_input.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers {

// One function a result file; each appends to the table named after it in tables.h.
Status ReadKernelDetails(const TextInput& input, const ReadOptions& options,
                         store::TraceStore& out);
Status ReadOperatorDetails(const TextInput& input, const ReadOptions& options,
                           store::TraceStore& out);
Status ReadOperatorMemory(const TextInput& input, const ReadOptions& options,
                          store::TraceStore& out);
Status ReadMemoryRecord(const TextInput& input, const ReadOptions& options, store::TraceStore& out);
Status ReadModuleMemory(const TextInput& input, const ReadOptions& options, store::TraceStore& out);
Status ReadStepTrace(const TextInput& input, const ReadOptions& options, store::TraceStore& out);
Status ReadOpStatistic(const TextInput& input, const ReadOptions& options, store::TraceStore& out);
Status ReadApiStatistic(const TextInput& input, const ReadOptions& options, store::TraceStore& out);

}  // namespace steplens::readers
