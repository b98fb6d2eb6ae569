#pragma once

#include <cstdint>
#include <vector>

#include "store/trace_store.h"

namespace steplens::readers {

// One end of an arrow, as the trace has it. The key stands for category and id.
struct FlowEnd {
  uint64_t key_high;
  uint64_t key_low;
  int64_t ts_ns;
  int64_t id;  // none if it is no number of 64 bits
  store::TrackId track;
  StringId kind;
};

// Ends or starts that found no partner.
struct LeftOver {
  uint64_t count = 0;
  FlowEnd example{};  // one of them
};
struct PairedFlows {
  LeftOver ends;
  LeftOver starts;
};

// Joins every end with the start of the same key that precedes it most closely in time (the first
// start if none does) and appends the arrows to `flows` in the order of `ends`.
PairedFlows PairFlows(const std::vector<FlowEnd>& starts, const std::vector<FlowEnd>& ends,
                      store::FlowTable& flows);

}  // namespace steplens::readers
