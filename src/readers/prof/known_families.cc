#include "readers/prof/known_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include "readers/folder_listing.h"

namespace steplens::readers::prof {
namespace {

bool Holds(std::span<const std::string_view> families, std::string_view name) {
  return std::find(families.begin(), families.end(), name) != families.end();
}

}  // namespace

void NameUnreadFamilies(const ProfTree& tree, store::IssueLog& issues) {
  uint64_t count = 0;
  std::string first;
  const auto look = [&](const Side& side, std::span<const std::string_view> read) {
    for (const auto& [name, slices] : side.families) {
      if (Holds(read, name) || Holds(kNeedlessFamilies, name)) continue;
      if (count++ == 0) first = fmt::format("{}: '{}' is not read", NameOf(side.folder), name);
    }
  };
  if (tree.host) look(*tree.host, kHostFamilies);
  for (const Side& device : tree.devices) look(device, kDeviceFamilies);
  if (count > 0) issues.Add(store::IssueKind::kEventKindIgnored, first, count);
}

}  // namespace steplens::readers::prof
