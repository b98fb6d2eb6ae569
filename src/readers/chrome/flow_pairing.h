#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/merge.h"
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

// Starts and ends that have not found each other yet.
struct LooseFlows {
  std::vector<FlowEnd> starts;
  std::vector<FlowEnd> ends;
};

// Joins every end with the start of the same key that precedes it most closely in time (the first
// start if none does) and appends the arrows to `flows` in the order of the ends. Returns what
// found no partner.
LooseFlows PairFlows(const LooseFlows& loose, store::FlowTable& flows);

// Adds what one part of a timeline left over to `into`, under the ids of the whole.
void AppendLoose(const LooseFlows& part, const store::NewIds& ids, LooseFlows& into);

// Counts flows without a partner as issues of the trace `name`.
void CountLoose(const LooseFlows& loose, std::string_view name, store::TraceStore& out);

}  // namespace steplens::readers
