#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// What one operator of a module took, over all its calls: a row of the comparison between two kinds
// of device.
struct ProfileRow {
  std::string parent;
  std::string module;
  std::string op;
  std::string kernels;  // separated by ", "
  int64_t total_ns = 0;
  double mean_ns = 0;  // mean of the means of the kinds of calls
  int64_t count = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(parent, module, op, kernels, total_ns, mean_ns, count);
  }
};

// The kernels of a GPU capture by module and operator, per device, ordered by (parent, module, op).
// Modules and operators are told by the ranges around the launch of a kernel: names of layers are
// modules (without any, all names but those of operators), names with "::" operators. Kernels
// outside of all modules are left out; those without an operator have the operator "None".
std::map<int64_t, std::vector<ProfileRow>> SummarizeGpuModules(const store::TraceStore& store);

}  // namespace steplens::analysis::cluster
