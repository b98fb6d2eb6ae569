#include "analysis/communication/matrix.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/communication/lower_case.h"
#include "analysis/communication/units.h"

namespace steplens::analysis {
namespace {

using store::kNone;

constexpr int64_t kNoRank = 4294967295;

constexpr std::string_view kTorchTypes[] = {
    "send",          "reduce",  "invalid",  "broadcast", "allreduce",  "receive",      "allgather",
    "reducescatter", "scatter", "alltoall", "alltoallv", "alltoallvc", "batchsendrecv"};
constexpr std::string_view kMindSporeTypes[] = {
    "invalid",       "broadcast", "allreduce", "reduce",    "allgather",
    "reducescatter", "scatter",   "alltoall",  "alltoallv", "alltoallvc"};
constexpr std::string_view kMindSporeP2p[] = {"receive", "send"};

bool IsRank(int64_t rank) { return rank >= 0 && rank != kNoRank; }

double Rate(double size_mb, double ms) { return ms > 0 ? std::round(size_mb / ms * 1e4) / 1e4 : 0; }

std::span<const std::string_view> Types(bool is_mindspore, bool is_p2p) {
  if (!is_mindspore) return kTorchTypes;
  return is_p2p ? std::span<const std::string_view>(kMindSporeP2p) : kMindSporeTypes;
}

}  // namespace

std::string MatrixType(std::string_view op_name, bool is_mindspore, bool is_p2p) {
  const std::string name = LowerCase(op_name);
  for (size_t at = 0; at < name.size(); ++at) {
    for (const std::string_view type : Types(is_mindspore, is_p2p)) {
      if (std::string_view(name).substr(at).starts_with(type)) return std::string(type);
    }
  }
  return name.substr(0, std::min(name.find("__"), name.size()));
}

MatrixBuilder::Links& MatrixBuilder::Find(const std::string& type, const std::string& group) {
  for (Links& links : links_) {
    if (links.type == type && links.group == group) return links;
  }
  return links_.emplace_back(Links{type, group, {}, {}});
}

void MatrixBuilder::Add(const std::string& op_name, const std::string& group,
                        const std::vector<Transfer>& transfers) {
  std::vector<LinkFacts> of_op;
  for (const Transfer& transfer : transfers) {
    if (!IsRank(transfer.src_rank)) continue;
    const int64_t dst = IsRank(transfer.dst_rank) ? transfer.dst_rank : transfer.src_rank;
    auto link = std::find_if(of_op.begin(), of_op.end(), [&](const LinkFacts& l) {
      return l.src_rank == transfer.src_rank && l.dst_rank == dst;
    });
    if (link == of_op.end()) {
      of_op.push_back({transfer.src_rank, dst, transfer.transport, 0, 0, 0, op_name});
      link = of_op.end() - 1;
    }
    link->transit_size_mb += static_cast<double>(transfer.size_bytes) / kBytesPerMb;
    link->transit_ms += static_cast<double>(transfer.dur_ns) / kNsPerMs;
  }
  if (of_op.empty()) return;
  Links& links = Find(MatrixType(op_name, is_mindspore_, is_p2p_), group);
  for (LinkFacts& link : of_op) {
    link.bandwidth_gbps = Rate(link.transit_size_mb, link.transit_ms);
    const Pair pair(link.src_rank, link.dst_rank);
    if (!links.by_pair.contains(pair)) links.order.push_back(pair);
    links.by_pair[pair].push_back(std::move(link));
  }
}

void MatrixBuilder::AppendEntries(Links& links, std::vector<MatrixEntry>& out) const {
  const auto entry = [&](std::string_view pick) {
    return MatrixEntry{links.type + "-" + std::string(pick), links.group, {}};
  };
  // In the order the reference writes them.
  std::vector<MatrixEntry> entries = {entry("top1"),  entry("middle"),  entry("bottom1"),
                                      entry("total"), entry("bottom2"), entry("bottom3")};
  for (const Pair& pair : links.order) {
    std::vector<LinkFacts>& list = links.by_pair[pair];
    std::stable_sort(list.begin(), list.end(), [](const LinkFacts& a, const LinkFacts& b) {
      return a.bandwidth_gbps > b.bandwidth_gbps;
    });
    const size_t n = list.size();
    entries[0].links.push_back(list.front());
    entries[1].links.push_back(list[n / 2]);
    entries[2].links.push_back(list[n - 1]);
    LinkFacts total{pair.first, pair.second, list.front().transport, 0, 0, 0, ""};
    for (const LinkFacts& link : list) {
      total.transit_size_mb += link.transit_size_mb;
      total.transit_ms += link.transit_ms;
    }
    total.bandwidth_gbps = Rate(total.transit_size_mb, total.transit_ms);
    entries[3].links.push_back(total);
    // MindSpore repeats the last operation where there are fewer than three.
    if (n >= 2 || is_mindspore_) entries[4].links.push_back(list[n >= 2 ? n - 2 : 0]);
    if (n >= 3 || is_mindspore_) entries[5].links.push_back(list[n >= 3 ? n - 3 : 0]);
  }
  for (MatrixEntry& made : entries) {
    if (!made.links.empty()) out.push_back(std::move(made));
  }
}

std::vector<MatrixEntry> MatrixBuilder::Finish() {
  std::vector<MatrixEntry> entries;
  for (Links& links : links_) AppendEntries(links, entries);
  return entries;
}

}  // namespace steplens::analysis
