#include "analysis/cluster/host_name.h"

#include <string_view>

namespace steplens::analysis::cluster {
namespace {

// The profiler names a capture <host>_<pid>_<time>_ascend_pt; text captures say it nowhere else.
std::string HostInPath(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.ends_with("_ascend_pt") && !name.ends_with("_ascend_ms")) return {};
  name.remove_suffix(std::string_view("_ascend_pt").size());
  for (const size_t min_digits : {size_t{14}, size_t{1}}) {  // the time, then the process
    const size_t mark = name.rfind('_');
    if (mark == name.npos || name.size() - mark - 1 < min_digits ||
        name.find_first_not_of("0123456789", mark + 1) != name.npos) {
      return {};
    }
    name = name.substr(0, mark);
  }
  return std::string(name);
}

}  // namespace

std::string HostName(const store::TraceStore& rank) {
  std::string name(rank.FindMeta("hostName").value_or(""));
  return name.empty() ? HostInPath(rank.info.path) : name;
}

}  // namespace steplens::analysis::cluster
