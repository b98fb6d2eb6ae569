#include "analysis/cluster/summary/findings.h"

#include <fmt/format.h>

#include <algorithm>

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

// "(0-7, 16)", at most a few.
std::string ShortList(const std::vector<int64_t>& ranks) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(ranks.size(), kShown); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(ranks[i]);
  if (ranks.size() > kShown) text += fmt::format(",... ({} ranks)", ranks.size());
  return text;
}

std::string DimensionName(const std::string& dimension, bool chinese) {
  if (dimension == "rank") return chinese ? "卡" : "rank";
  if (dimension == "host") return chinese ? "主机" : "host";
  std::string name = dimension;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name +
         (dimension == "pp" ? (chinese ? " 阶段" : " stage") : (chinese ? " 序号" : " index"));
}

void WordReason(const LateGroup& late, Finding& finding) {
  switch (late.reason) {
    case LateReason::kComputing:
      finding.is_computing = true;
      finding.reason_en =
          fmt::format("its computing takes {:.2f} ms longer than its peers'", late.excess_ms);
      finding.reason_zh = fmt::format("计算时间比同组其他卡多 {:.2f} ms", late.excess_ms);
      finding.advice_en =
          "compare its kernels and clock with a peer: compute_op_sum, freq_analysis";
      finding.advice_zh = "与同组卡比较算子耗时与频率：compute_op_sum、freq_analysis";
      return;
    case LateReason::kHost:
      finding.reason_en = fmt::format(
          "its device idles {:.2f} ms longer: the host launches too late", late.excess_ms);
      finding.reason_zh = fmt::format("设备空闲多 {:.2f} ms：主机下发慢", late.excess_ms);
      finding.advice_en = "look at what the host does meanwhile: free_analysis, cann_api_sum";
      finding.advice_zh = "查看主机侧在做什么：free_analysis、cann_api_sum";
      return;
    case LateReason::kTransfers:
      finding.reason_en = fmt::format("its transfers take {:.2f} ms longer", late.excess_ms);
      finding.reason_zh = fmt::format("通信传输多 {:.2f} ms", late.excess_ms);
      finding.advice_en = "check its links: communication_matrix, slow_link";
      finding.advice_zh = "检查其链路：communication_matrix、slow_link";
      return;
    case LateReason::kExperts:
      finding.reason_en =
          fmt::format("its experts work {:.2f} ms longer than usual: tokens are shared unevenly",
                      late.excess_ms);
      finding.reason_zh =
          fmt::format("其专家计算比通常多 {:.2f} ms：token 分配不均", late.excess_ms);
      finding.advice_en = "look at the tokens of each rank: ep_load_balance; balance the router";
      finding.advice_zh = "查看各卡 token 数：ep_load_balance；调整路由负载均衡";
      return;
    case LateReason::kUnknown:
      finding.reason_en = "neither computing, host nor transfers explain it";
      finding.reason_zh = "计算、主机下发与传输均无法解释";
      finding.advice_en = "open its timeline beside a peer's";
      finding.advice_zh = "对比其与同组卡的时间线";
      return;
  }
}

}  // namespace

Finding WordFinding(const LateGroup& late) {
  Finding finding;
  finding.kind = late.dimension == "rank" ? "late_rank" : "late_group";
  finding.subject = DimensionName(late.dimension, false) + " " + late.index;
  finding.subject_zh = DimensionName(late.dimension, true) + " " + late.index;
  if (late.reason == LateReason::kExperts) {
    finding.kind = "uneven_load";
    finding.subject = "uneven load of experts, most at " + finding.subject;
    finding.subject_zh = "专家负载不均，最重为 " + finding.subject_zh;
  }
  finding.late_ranks = late.ranks;
  finding.ranks = ShortList(late.ranks);
  finding.ms_per_step = late.late_ms;
  WordReason(late, finding);
  if (!late.host.empty()) {
    finding.reason_en += fmt::format(" (all of it is on host {})", late.host);
    finding.reason_zh += fmt::format("（全部位于主机 {}）", late.host);
  }
  SetHidden(late.is_hidden, finding);
  return finding;
}

void BlameClock(const ComputingClock& late, const ComputingClock& peer, Finding& finding) {
  const bool was_hidden = finding.is_hidden;
  SetHidden(false, finding);  // what it says stays last
  finding.reason_en += fmt::format(
      ", as the AI Core frequency of rank {} is {:.0f} MHz on average while it computes, that of "
      "rank {} {:.0f} MHz",
      late.rank, late.mhz, peer.rank, peer.mhz);
  finding.reason_zh +=
      fmt::format("，因为卡 {} 计算时 AI Core 平均频率为 {:.0f} MHz，卡 {} 为 {:.0f} MHz",
                  late.rank, late.mhz, peer.rank, peer.mhz);
  finding.advice_en = "check power and temperature of its device; freq_analysis has all ranks";
  finding.advice_zh = "检查该设备的功耗与温度；freq_analysis 有全部卡";
  SetHidden(was_hidden, finding);
}

void SetHidden(bool is_hidden, Finding& finding) {
  constexpr std::string_view kEnglish = ", hidden behind something slower";
  constexpr std::string_view kChinese = "，目前被更慢的部分掩盖";
  if (is_hidden == finding.is_hidden) return;
  finding.is_hidden = is_hidden;
  if (is_hidden) {
    finding.reason_en += kEnglish;
    finding.reason_zh += kChinese;
  } else {
    finding.reason_en.resize(finding.reason_en.size() - kEnglish.size());
    finding.reason_zh.resize(finding.reason_zh.size() - kChinese.size());
  }
}

Finding WordFinding(const SlowLink& link) {
  Finding finding;
  finding.kind = "slow_link";
  finding.ms_per_step = link.lost_ms;
  const std::string speed_en = fmt::format("{} at {:.1f} GB/s where {:.1f} is usual",
                                           link.transport, link.gbps, link.usual_gbps);
  const std::string speed_zh = fmt::format("{} 带宽 {:.1f} GB/s，通常为 {:.1f} GB/s",
                                           link.transport, link.gbps, link.usual_gbps);
  switch (link.kind) {
    case LinkClass::kSender:
      finding.subject = fmt::format("sending by rank {}", link.src);
      finding.subject_zh = fmt::format("卡 {} 的发送链路", link.src);
      finding.ranks = std::to_string(link.src);
      finding.reason_en =
          fmt::format("{} of its links are slow as sender: {}", link.links, speed_en);
      finding.reason_zh = fmt::format("作为发送端有 {} 条链路慢：{}", link.links, speed_zh);
      break;
    case LinkClass::kReceiver:
      finding.subject = fmt::format("receiving by rank {}", link.dst);
      finding.subject_zh = fmt::format("卡 {} 的接收链路", link.dst);
      finding.ranks = std::to_string(link.dst);
      finding.reason_en =
          fmt::format("{} of its links are slow as receiver: {}", link.links, speed_en);
      finding.reason_zh = fmt::format("作为接收端有 {} 条链路慢：{}", link.links, speed_zh);
      break;
    case LinkClass::kLink:
      finding.subject = fmt::format("link {}-{}", link.src, link.dst);
      finding.subject_zh = fmt::format("链路 {}-{}", link.src, link.dst);
      finding.ranks = fmt::format("{},{}", link.src, link.dst);
      finding.reason_en = speed_en;
      finding.reason_zh = speed_zh;
      break;
  }
  finding.advice_en =
      "check cable, port and NIC of these ranks; communication_matrix has all links";
  finding.advice_zh = "检查这些卡的线缆、端口与网卡；communication_matrix 有全部链路";
  return finding;
}

Finding WordFinding(const SmallPackets& small) {
  Finding finding;
  finding.kind = "small_packets";
  finding.subject = fmt::format("sending by {} in small packets", small.transport);
  finding.subject_zh = small.transport + " 小包传输";
  finding.ranks = ShortList(small.ranks);
  finding.ms_per_step = small.lost_ms;
  finding.reason_en = fmt::format(
      "{:.0f} % of the transfer time goes to packets below {} MB, which reach {:.1f} of {:.1f} "
      "GB/s",
      100 * small.small_share, LargePacketMb(small.transport), small.gbps, small.expected_gbps);
  finding.reason_zh = fmt::format("{:.0f}% 的传输时间用于小于 {} MB 的包，带宽 {:.1f}/{:.1f} GB/s",
                                  100 * small.small_share, LargePacketMb(small.transport),
                                  small.gbps, small.expected_gbps);
  finding.advice_en = "send more at once: larger buckets, gradient accumulation, fewer splits";
  finding.advice_zh = "增大单次通信量：更大的桶、梯度累积、减少切分";
  return finding;
}

table::Table FindingTable(const std::vector<Finding>& findings) {
  table::Table table("ClusterFindings");
  for (const char* name : {"kind", "subject", "ranks", "feltIn"})
    table.AddColumn(name, CellType::kText);
  table.AddColumn("msPerStep", CellType::kDouble);
  table.AddColumn("shareOfStep(%)", CellType::kDouble, 1);
  for (const char* name : {"reason", "advice", "subjectZh", "reasonZh", "adviceZh"})
    table.AddColumn(name, CellType::kText);
  table.AddColumn("hidden", CellType::kInt);
  for (const Finding& finding : findings) {
    table.AppendText(0, finding.kind);
    table.AppendText(1, finding.subject);
    table.AppendText(2, finding.ranks);
    table.AppendText(3, finding.felt_in);
    table.AppendDouble(4, finding.ms_per_step);
    table.AppendDouble(5, finding.share_percent);
    table.AppendText(6, finding.reason_en);
    table.AppendText(7, finding.advice_en);
    table.AppendText(8, finding.subject_zh);
    table.AppendText(9, finding.reason_zh);
    table.AppendText(10, finding.advice_zh);
    table.AppendInt(11, finding.is_hidden ? 1 : 0);
  }
  return table;
}

}  // namespace steplens::analysis::cluster
