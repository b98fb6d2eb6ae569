#pragma once

#include "base/status.h"
#include "readers/ascend_text/text_input.h"
#include "store/trace_store.h"

namespace steplens::readers {

// profiler_info.json -> meta, one row a scalar, named by its path. A list is one row of JSON text.
Status ReadProfilerInfoFile(const TextInput& input, store::TraceStore& out);

// What a file of our recorder says was lost: records, and the end of the capture.
void CountRecordingLosses(JsonValue root, std::string_view name, store::IssueLog& issues);

// profiler_metadata.json -> meta, one row a member: the text itself, or JSON.
Status ReadProfilerMetadata(const TextInput& input, store::TraceStore& out);

// info.json.<n> of a device -> meta "DeviceInfo": its cores and clock, as JSON.
Status ReadDeviceInfo(const TextInput& input, store::TraceStore& out);

}  // namespace steplens::readers
