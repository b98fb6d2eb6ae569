#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/advice/settings.h"
#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// Consecutive operators or kernels that one of another kind does the work of.
struct Replaceable {
  std::string names;  // "slice-silu-mul"
  std::string by;     // "torch_npu.npu_swiglu"
  std::string note;
  int64_t lane = 0;  // track of operators, stream of kernels
  size_t first = 0;  // row of slices or kernels
  size_t last = 0;
  Interval times{};
};

// Framework operators of one thread, those with the same parent, that one operator of torch_npu
// replaces: by the rules of the reference viewer, or by others.
std::vector<Replaceable> ListReplaceableApis(const store::TraceStore& store);
std::vector<Replaceable> ListReplaceableApis(const store::TraceStore& store,
                                             const std::vector<Replacement>& rules);
// Those of the advisor: what users added, then the built-in ones.
std::vector<Replacement> AdvisorApiRules(const RuleSettings& settings);

// Kernels of one stream that one kernel replaces; collectives do not count.
std::vector<Replaceable> ListFusibleKernels(const store::TraceStore& store);
std::vector<Replaceable> ListFusibleKernels(const store::TraceStore& store,
                                            const std::vector<Replacement>& rules);
std::vector<Replacement> AdvisorFusionRules(const RuleSettings& settings);

}  // namespace steplens::analysis
