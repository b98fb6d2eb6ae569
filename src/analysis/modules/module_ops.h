#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// A kernel as the operator sees it that launched it.
struct OpKernel {
  store::SliceId slice = store::kNoSlice;
  StringId name{};  // of a collective its type: hcom_allReduce_
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
};

// One call of a host operator that launched kernels.
struct LaunchingOp {
  StringId name{};
  store::TrackId track = store::kNoTrack;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::vector<OpKernel> kernels;  // by start
  int64_t device_ns() const;      // sum of their durations
};

// Every operator that launched a kernel or a collective itself, by start. Copies and events are
// launched, too, but are no kernels.
std::vector<LaunchingOp> CollectLaunchingOps(const store::TraceStore& store);

// One call of an nn.Module on the host, or of its backward pass.
struct ModuleRange {
  std::string name;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool is_backward = false;
};

// The marked ranges of domain 'Module'; without them, unless `only_marked`, the Python functions
// 'nn.Module: ...' (which the reference does not know).
std::vector<ModuleRange> FindModules(const store::TraceStore& store, bool only_marked);

// The backward passes of modules. No range marks them: they are the stretches of time in which the
// backward operators (fwdbwd flows) of one call of a module ran one after the other. Each stands
// inside a range that is named as the path of its parents and is 1 ns wider on both sides.
std::vector<ModuleRange> FindBackwardModules(const store::TraceStore& store,
                                             std::span<const ModuleRange> modules);

// What one operator of a module took, over all calls of the module that made the same sequence of
// operators.
struct ModuleOp {
  std::string parent;         // path of the modules around it: "Model/Layer"
  std::string module;         // "[Backward]MLP" in the backward pass
  std::string op;             // host operator
  std::string kernels;        // what it launched, separated by ", "
  int64_t total_ns = 0;       // of its kernels, over all calls
  std::vector<uint32_t> ops;  // its calls: places in the list of launching operators

  int64_t count() const { return static_cast<int64_t>(ops.size()); }
};

// Operators by the innermost module that contains them, in the order of their first call; operators
// outside of all modules are left out. Rows of one module that follow each other but come from
// different sequences of operators get names of their own: "MLP_0", "MLP_1".
std::vector<ModuleOp> GroupByModule(const store::TraceStore& store,
                                    std::span<const LaunchingOp> ops,
                                    std::span<const ModuleRange> modules);

// The module around each of some stretches of time, whatever thread they are on.
struct ModulePaths {
  std::vector<std::string> paths;     // "Model/Layer/MLP", "Model/Layer/[Backward]MLP"; each once
  std::vector<uint32_t> of_interval;  // place in paths of the innermost one; kNoId: none
};
ModulePaths FindModulePaths(std::span<const ModuleRange> modules,
                            std::span<const Interval> intervals);

// All of the above, backward passes included.
std::vector<ModuleOp> SummarizeModules(const store::TraceStore& store, bool only_marked);

}  // namespace steplens::analysis
