#include "analysis/cluster/options.h"

#include "base/number.h"

namespace steplens::analysis::cluster {

std::string Options::Value(std::string_view name, std::string_view otherwise) const {
  const auto found = values.find(std::string(name));
  return found == values.end() ? std::string(otherwise) : found->second;
}

int64_t Options::PositiveOr(std::string_view name, int64_t otherwise) const {
  const auto number = ParseInt64(Value(name));
  return number && *number > 0 ? *number : otherwise;
}

}  // namespace steplens::analysis::cluster
