#include "analysis/advice/rules/kernel_counters.h"

#include <algorithm>
#include <cmath>

namespace steplens::analysis {

KernelCounters::KernelCounters(const store::TraceStore& store) {
  for (const store::DynamicColumn& column : store.kernel_metrics) {
    if (column.is_text()) continue;
    columns_.emplace(column.name.substr(0, column.name.find('(')), &column);
  }
}

double KernelCounters::At(std::string_view name, size_t kernel) const {
  const auto found = columns_.find(name);
  if (found == columns_.end() || kernel >= found->second->numbers.size()) return 0;
  const double value = found->second->numbers[kernel];
  return std::isfinite(value) ? value : 0;
}

double KernelCounters::Most(std::initializer_list<std::string_view> names, size_t kernel) const {
  double most = 0;
  for (const std::string_view name : names) most = std::max(most, At(name, kernel));
  return most;
}

double KernelCounters::Pipe(std::string_view pipe, size_t kernel, bool as_reference) const {
  // There is no mac on a vector unit and no vec on a cube unit.
  const std::string plain = std::string(pipe) + "_ratio";
  const bool has_cube = pipe != "vec";
  const bool has_vector = !pipe.starts_with("mac");
  double most = 0;
  for (const std::string& name :
       {plain, has_cube ? "aic_" + plain : plain, has_vector ? "aiv_" + plain : plain}) {
    if (as_reference && columns_.contains(name)) return At(name, kernel);
    most = std::max(most, At(name, kernel));
  }
  return most;
}

}  // namespace steplens::analysis
