#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/explain/explain.h"

namespace steplens::analysis {

// "12.345 us", "1.2 ms": a time for a sentence.
std::string TimeText(int64_t ns);

// `ns` as a share of `whole_ns`.
Evidence MakeEvidence(Message wording, int64_t ns, int64_t whole_ns);

// A slice that waits (a synchronising call, the wait for an event, a notify or a queue) explained
// by what ends it; nothing for slices that work. The slice must exist.
std::optional<Explanation> ExplainSynchronisation(const store::Job& job, uint32_t rank_index,
                                                  store::SliceId slice, const RankView& facts,
                                                  const ArgsReader& read_args);

}  // namespace steplens::analysis
