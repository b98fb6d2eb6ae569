#include "analysis/cluster/group_name.h"

#include <cstdint>

namespace steplens::analysis::cluster {

std::string GroupName(std::string_view group_id) {
  if (group_id.find_first_not_of("0123456789") == std::string_view::npos)
    return std::string(group_id);
  uint32_t high = 0;
  uint32_t low = 0;
  for (const char c : group_id) {
    high = high * 29 + static_cast<uint8_t>(c);
    low = low * 131 + static_cast<uint8_t>(c);
  }
  return std::to_string((uint64_t{high} << 32) | low);
}

std::string_view GroupSuffix(std::string_view group_name) {
  return group_name.size() <= 3 ? group_name : group_name.substr(group_name.size() - 3);
}

}  // namespace steplens::analysis::cluster
