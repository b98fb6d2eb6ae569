#pragma once

#include <string_view>

#include "store/trace_store.h"

namespace steplens::analysis {

// Whether a capture was recorded where the host is the device. Its result files have an
// accelerator's names (process "Ascend Hardware", core AI_CORE), so that every tool reads them;
// pages show the host's.
bool IsCpuCapture(const store::TraceStore& store);

// Whether the recorder says that it drove an NPU. The activities of another recorder say so; ours
// are what was asked for.
bool SaysNpu(const store::TraceStore& store);

inline constexpr std::string_view kCpuCore = "CPU";

// The core of a kernel in the words of its device.
inline std::string_view CoreWord(std::string_view core, bool is_cpu) {
  return is_cpu && core == "AI_CORE" ? kCpuCore : core;
}

}  // namespace steplens::analysis
