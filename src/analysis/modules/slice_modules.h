#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// The module of each slice, for a picture: on the threads that launch device work the innermost one
// around it, on the device that of its launch.
struct SliceModules {
  std::vector<std::string> paths;  // "Model/Layer_1/MLP", "Model/[Backward]MLP"; by text
  std::vector<uint8_t> of_slice;   // 1 + place in paths; 0: none
};

// There are at most 255 paths: if a capture has more, the innermost modules are left out until they
// are as few.
SliceModules FindSliceModules(const store::TraceStore& store);

}  // namespace steplens::analysis
