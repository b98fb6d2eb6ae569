#include "analysis/cluster/summary/waits.h"

#include <algorithm>

namespace steplens::analysis::cluster {

void AttributeWaits(std::span<const CallMember> members, std::map<int64_t, WaitShare>& shares) {
  std::vector<CallMember> order(members.begin(), members.end());
  std::sort(order.begin(), order.end(), [](const CallMember& a, const CallMember& b) {
    return std::pair(-a.dur_ns, a.rank) < std::pair(-b.dur_ns, b.rank);
  });
  const size_t n = order.size();
  if (n < 2) return;
  // Blame grows along the order of arrival: member i answers for all gaps before its own arrival.
  double blame_ns = 0;
  for (size_t i = 0; i < n; ++i) {
    WaitShare& share = shares[order[i].rank];
    share.suffered_ns += static_cast<double>(order[i].dur_ns - order[n - 1].dur_ns);
    share.caused_ns += blame_ns;
    if (i + 1 == n) break;
    const auto gap_ns = static_cast<double>(order[i].dur_ns - order[i + 1].dur_ns);
    blame_ns += gap_ns * static_cast<double>(i + 1) / static_cast<double>(n - i - 1);
  }
}

}  // namespace steplens::analysis::cluster
