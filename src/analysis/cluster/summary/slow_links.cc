#include "analysis/cluster/summary/slow_links.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/cluster/summary/robust.h"

namespace steplens::analysis::cluster {
namespace {

constexpr double kSlowLink = 0.6;
constexpr size_t kMinPeers = 4;     // links to compare with
constexpr size_t kMinRowLinks = 3;  // links of a rank that make a row
constexpr double kMostOf = 0.6;

struct Judged {
  const LinkTotal* link;
  double usual_gbps;
  bool is_slow;
};

// The rows of a link in one group, which are by step, together.
std::vector<LinkTotal> OverSteps(const std::vector<LinkTotal>& links) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view, int64_t, int64_t>,
           LinkTotal>
      sums;
  for (const LinkTotal& link : links) {
    const auto [place, is_new] =
        sums.try_emplace({link.transport, link.op, link.group, link.src, link.dst}, link);
    if (is_new) continue;
    place->second.size_mb += link.size_mb;
    place->second.time_ms += link.time_ms;
  }
  std::vector<LinkTotal> out;
  for (const auto& [key, sum] : sums) out.push_back(sum);
  return out;
}

std::vector<Judged> Judge(const std::vector<LinkTotal>& links) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const LinkTotal*>> alike;
  for (const LinkTotal& link : links) {
    if (link.src != link.dst && link.transport != "LOCAL" && link.time_ms > 0 && link.size_mb > 0)
      alike[{link.transport, link.op}].push_back(&link);
  }
  std::vector<Judged> out;
  for (const auto& [kind, members] : alike) {
    std::vector<double> bandwidths;
    for (const LinkTotal* link : members) bandwidths.push_back(link->gbps());
    const double usual = Median(bandwidths);
    for (const LinkTotal* link : members) {
      const bool is_slow = members.size() >= kMinPeers && link->gbps() < kSlowLink * usual;
      out.push_back({link, usual, is_slow});
    }
  }
  return out;
}

SlowLink Describe(LinkClass kind, int64_t src, int64_t dst, const std::vector<Judged>& slow,
                  size_t steps) {
  SlowLink out;
  out.kind = kind;
  out.src = src;
  out.dst = dst;
  std::map<std::pair<int64_t, int64_t>, double> lost_of;  // of a link, in all its operations
  std::vector<double> bandwidths;
  std::vector<double> usual;
  for (const Judged& judged : slow) {
    out.transport = judged.link->transport;
    bandwidths.push_back(judged.link->gbps());
    usual.push_back(judged.usual_gbps);
    const LinkTotal& link = *judged.link;
    const double lost_ms = link.time_ms - link.size_mb / judged.usual_gbps;
    out.extras.push_back(
        {link.src, link.dst, std::string(link.group), std::string(link.op), lost_ms});
    lost_of[{link.src, link.dst}] += lost_ms;
  }
  for (const auto& [ends, lost_ms] : lost_of)
    out.lost_ms = std::max(out.lost_ms, lost_ms / static_cast<double>(std::max<size_t>(steps, 1)));
  out.links = lost_of.size();
  out.gbps = Median(bandwidths);
  out.usual_gbps = Median(usual);
  return out;
}

// Ranks most of whose links, as sender or receiver, are slow. Their links are then explained.
void TakeRows(LinkClass kind, size_t steps, std::vector<Judged>& judged,
              std::vector<SlowLink>& out) {
  struct Row {
    std::set<int64_t> peers;
    std::set<int64_t> slow_peers;
    std::vector<Judged> slow;
  };
  std::map<int64_t, Row> rows;
  for (const Judged& one : judged) {
    const int64_t own = kind == LinkClass::kSender ? one.link->src : one.link->dst;
    const int64_t peer = kind == LinkClass::kSender ? one.link->dst : one.link->src;
    Row& row = rows[own];
    row.peers.insert(peer);
    if (!one.is_slow) continue;
    row.slow_peers.insert(peer);
    row.slow.push_back(one);
  }
  for (const auto& [rank, row] : rows) {
    const auto slow = static_cast<double>(row.slow_peers.size());
    if (row.slow_peers.size() < kMinRowLinks ||
        slow < kMostOf * static_cast<double>(row.peers.size())) {
      continue;
    }
    out.push_back(Describe(kind, kind == LinkClass::kSender ? rank : -1,
                           kind == LinkClass::kReceiver ? rank : -1, row.slow, steps));
    for (Judged& one : judged) {
      if ((kind == LinkClass::kSender ? one.link->src : one.link->dst) == rank) one.is_slow = false;
    }
  }
}

}  // namespace

std::vector<SlowLink> FindSlowLinks(const std::vector<LinkTotal>& links, size_t steps) {
  const std::vector<LinkTotal> sums = OverSteps(links);
  std::vector<Judged> judged = Judge(sums);
  std::vector<SlowLink> out;
  TakeRows(LinkClass::kSender, steps, judged, out);
  TakeRows(LinkClass::kReceiver, steps, judged, out);
  std::map<std::pair<int64_t, int64_t>, std::vector<Judged>> single;
  for (const Judged& one : judged) {
    if (one.is_slow) single[{one.link->src, one.link->dst}].push_back(one);
  }
  for (const auto& [ends, slow] : single)
    out.push_back(Describe(LinkClass::kLink, ends.first, ends.second, slow, steps));
  std::stable_sort(out.begin(), out.end(),
                   [](const SlowLink& a, const SlowLink& b) { return a.lost_ms > b.lost_ms; });
  return out;
}

}  // namespace steplens::analysis::cluster
