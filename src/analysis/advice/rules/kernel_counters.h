#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "store/trace_store.h"

namespace steplens::analysis {

// The counters of kernels by name without the unit: "aic_mac_ratio", "aiv_mte2_time". Zero where
// they were not recorded.
class KernelCounters {
 public:
  // The store must outlive this.
  explicit KernelCounters(const store::TraceStore& store);

  bool empty() const { return columns_.empty(); }
  double At(std::string_view name, size_t kernel) const;
  // The largest of several.
  double Most(std::initializer_list<std::string_view> names, size_t kernel) const;
  // How busy a pipe was, on the cube unit or on the vector unit: "mte2" -> the larger of
  // aic_mte2_ratio and aiv_mte2_ratio. As the reference has it: the first column that there is.
  double Pipe(std::string_view pipe, size_t kernel, bool as_reference = false) const;

 private:
  std::map<std::string, const store::DynamicColumn*, std::less<>> columns_;
};

}  // namespace steplens::analysis
