#include "server/align_ranks.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "base/saturate.h"

namespace steplens::server {
namespace {

constexpr int64_t kFar = int64_t{1} << 61;

// What offset_b - offset_a may be.
struct Between {
  int64_t least = -kFar;
  int64_t most = kFar;
  size_t shared = 0;
};

Between Compare(const RankCollectives& a, const RankCollectives& b) {
  Between out;
  for (const auto& [key, times_a] : a) {
    const auto found = b.find(key);
    if (found == b.end()) continue;
    ++out.shared;
    out.least = std::max(out.least, SubtractSaturating(found->second.begin_ns, times_a.end_ns));
    out.most = std::min(out.most, SubtractSaturating(found->second.end_ns, times_a.begin_ns));
  }
  return out;
}

// "hcom_allReduce__586_0_1" -> "hcom_allReduce_": what comes before the running number.
std::string TypeOf(std::string_view op_type, std::string_view name) {
  if (!op_type.empty()) return std::string(op_type);
  const size_t digit = name.find_first_of("0123456789");
  return std::string(name.substr(0, digit));
}

bool IsPointToPoint(std::string_view type) {
  for (const std::string_view word : {"send", "Send", "receive", "Receive", "recv", "Recv"}) {
    if (type.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

RankCollectives CollectivesOf(const store::TraceStore& store) {
  const auto& ops = store.comm_ops;
  std::vector<uint32_t> order(ops.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return ops.begin_ns[a] > ops.begin_ns[b]; });
  std::map<std::pair<std::string, std::string>, uint32_t> places;
  RankCollectives out;
  for (const uint32_t i : order) {
    std::string group(store.Text(ops.group_name[i]));
    std::string type = TypeOf(store.Text(ops.op_type[i]), store.Text(ops.name[i]));
    if (IsPointToPoint(type)) continue;
    const uint32_t place = places[{group, type}]++;
    out[{std::move(group), std::move(type), place}] = {
        ops.begin_ns[i], AddSaturating(ops.begin_ns[i], ops.dur_ns[i])};
  }
  return out;
}

AutoAlignment AlignCollectives(const std::vector<RankCollectives>& ranks,
                               const std::vector<int64_t>& current_ns) {
  AutoAlignment out;
  out.offset_ns = current_ns;
  out.residual_ns.assign(ranks.size(), 0);
  out.matched.assign(ranks.size(), 0);
  std::vector<bool> done(ranks.size(), false);
  for (size_t root = 0; root < ranks.size(); ++root) {
    if (done[root]) continue;
    done[root] = true;
    std::queue<size_t> reached;
    reached.push(root);
    while (!reached.empty()) {
      const size_t a = reached.front();
      reached.pop();
      for (size_t b = 0; b < ranks.size(); ++b) {
        if (done[b]) continue;
        const Between between = Compare(ranks[a], ranks[b]);
        if (between.shared == 0) continue;
        done[b] = true;
        out.matched[b] = between.shared;
        out.matched[a] = std::max(out.matched[a], between.shared);
        const int64_t now_ns = SubtractSaturating(current_ns[b], current_ns[a]);
        // Bounds that contradict each other (clocks that drift) leave the middle, off by half.
        int64_t difference_ns = between.least + (between.most - between.least) / 2;
        if (between.least <= between.most) {
          difference_ns = std::clamp(now_ns, between.least, between.most);
          out.residual_ns[b] =
              std::max(difference_ns - between.least, between.most - difference_ns);
        } else {
          out.residual_ns[b] = (between.least - between.most) / 2;
        }
        out.offset_ns[b] = AddSaturating(out.offset_ns[a], difference_ns);
        reached.push(b);
      }
    }
  }
  return out;
}

}  // namespace steplens::server
