#pragma once

#include <string>

#include "store/trace_store.h"

namespace steplens::cli {

// Whether a process of this machine is recording into the capture's folder: its profiler_info has
// no end yet, and the process it names (steplens_pid, or the number in the folder's name) has one
// of its files open.
bool IsBeingRecorded(const std::string& folder);

// That the recording was never ended, and up to when its data reaches, as a clause; "" if it ended
// as it should.
std::string HowItEnded(const store::TraceStore& rank);

// What our recorder could not keep (steplens_drops of profiler_info), as a clause; "" if it kept
// all or says nothing.
std::string LostWhileRecording(const store::TraceStore& rank);

// What the configuration of a capture says was lost, as import issues. Empty if all is there.
store::IssueLog LossesIn(const std::string& folder);

}  // namespace steplens::cli
