#pragma once

#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// Adds to a raw capture of MindSpore what its trace shows beside recorded ranges:
//   flows "async_npu"    from the host range that launches (its name holds KernelLaunch or
//                        LaunchTask) to the device's work, by the HostToDevice flow that starts
//                        inside it on the same thread
//   flows "mindspore_to_mstx"  from the host range of a mark ("...Mstx...") to the mark itself in
//   the
//                        lane of the application (python, python3), which begins inside it on the
//                        same thread
//   process Scope Layer  a thread for each depth of the scopes ("Default/network/...") that
//                        operators of the CPU and of the device, or what launched them, are named
//                        with; neighbours of one scope are one slice
// Nothing is added where nothing has such names, or where such flows exist already.
void AddMindSporeLanes(store::TraceStore& store);

// The name of the host range that launched each kernel, which MindSpore writes before the kernel's
// own; empty where none is known. No names at all if no kernel has one. After AddMindSporeLanes.
std::vector<StringId> MindSporeLaunchers(const store::TraceStore& store);

// Where launches are known a kernel belongs to the step of the host that it was launched in, one
// without a launch to the step it starts in; both ends of a step included.
void FillMindSporeSteps(store::TraceStore& store);

}  // namespace steplens::analysis
