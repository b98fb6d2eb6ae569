#include "analysis/advice/rules/job_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/sql_text.h"

namespace steplens::analysis {
namespace {

using cluster::LateGroup;
using cluster::LateReason;
using cluster::LinkClass;
using cluster::SlowLink;
using cluster::SmallPackets;

Message LateSubject(const LateGroup& late) {
  if (late.dimension == "rank") return {"finding.late.rank", {{"index", late.index}}};
  if (late.dimension == "host") return {"finding.late.host", {{"index", late.index}}};
  if (late.dimension == "pp") return {"finding.late.stage", {{"index", late.index}}};
  std::string name = late.dimension;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return {"finding.late.index", {{"dimension", name}, {"index", late.index}}};
}

void WordReason(const LateGroup& late, Finding& finding) {
  const std::vector<MessageArg> excess = {{"ms", fmt::format("{:.2f}", late.excess_ms)}};
  switch (late.reason) {
    case LateReason::kComputing:
      finding.reason = {"finding.late.computing", excess};
      finding.advice = {"finding.late.computing.advice"};
      return;
    case LateReason::kHost:
      finding.reason = {"finding.late.launching", excess};
      finding.advice = {"finding.late.launching.advice"};
      return;
    case LateReason::kTransfers:
      finding.reason = {"finding.late.transfers", excess};
      finding.advice = {"finding.late.transfers.advice"};
      return;
    case LateReason::kExperts:
      finding.reason = {"finding.late.tokens", excess};
      finding.advice = {"finding.late.tokens.advice"};
      return;
    case LateReason::kUnknown:
      finding.reason = {"finding.late.unknown"};
      finding.advice = {"finding.late.unknown.advice"};
      return;
  }
}

}  // namespace

bool IsLate(RuleId rule) {
  return rule == RuleId::kLateRank || rule == RuleId::kLateGroup || rule == RuleId::kUnevenLoad;
}

Finding MakeFinding(const LateGroup& late, double own_ms, double peers_ms) {
  Finding finding;
  finding.rule = late.dimension == "rank" ? RuleId::kLateRank : RuleId::kLateGroup;
  finding.subject = LateSubject(late);
  if (late.reason == LateReason::kExperts) {
    finding.rule = RuleId::kUnevenLoad;
    finding.effort = Effort::kModel;
    finding.subject = {"finding.late.experts", {{"subject", finding.subject}}};
  }
  finding.ranks = late.ranks;
  finding.saving = Saving{std::nullopt, late.late_ms};
  finding.confidence = Confidence::kEstimated;
  WordReason(late, finding);
  if (!late.host.empty())
    finding.reason = {"finding.late.on_host", {{"reason", finding.reason}, {"host", late.host}}};
  finding.is_hidden = late.is_hidden;
  finding.evidence = {
      {{"evidence.waits",
        {{"own", fmt::format("{:.3f}", own_ms)}, {"peers", fmt::format("{:.3f}", peers_ms)}}},
       "SELECT * FROM comm_durations_durations"}};
  return finding;
}

void BlameClock(const ComputingClock& late, const ComputingClock& peer, Finding& finding) {
  finding.reason = {"finding.late.clock",
                    {{"reason", finding.reason},
                     {"rank", std::to_string(late.rank)},
                     {"mhz", fmt::format("{:.0f}", late.mhz)},
                     {"peer", std::to_string(peer.rank)},
                     {"peer_mhz", fmt::format("{:.0f}", peer.mhz)}}};
  finding.advice = {"finding.late.clock.advice"};
}

Finding MakeFinding(const SlowLink& link) {
  Finding finding;
  finding.rule = RuleId::kSlowLink;
  finding.saving = Saving{std::nullopt, link.lost_ms};
  finding.confidence = Confidence::kEstimated;
  finding.effort = Effort::kHardware;
  const Message speed{"finding.link.speed",
                      {{"transport", link.transport},
                       {"gbps", fmt::format("{:.1f}", link.gbps)},
                       {"usual", fmt::format("{:.1f}", link.usual_gbps)}}};
  const std::string links = std::to_string(link.links);
  const std::string src = std::to_string(link.src);
  const std::string dst = std::to_string(link.dst);
  switch (link.kind) {
    case LinkClass::kSender:
      finding.subject = {"finding.link.sender", {{"rank", src}}};
      finding.ranks = {link.src};
      finding.reason = {"finding.link.outgoing", {{"links", links}, {"speed", speed}}};
      break;
    case LinkClass::kReceiver:
      finding.subject = {"finding.link.receiver", {{"rank", dst}}};
      finding.ranks = {link.dst};
      finding.reason = {"finding.link.incoming", {{"links", links}, {"speed", speed}}};
      break;
    case LinkClass::kLink:
      finding.subject = {"finding.link.pair", {{"src", src}, {"dst", dst}}};
      finding.ranks = {link.src, link.dst};
      finding.reason = speed;
      break;
  }
  finding.advice = {"finding.link.advice"};
  finding.evidence = {{{"evidence.links", {{"count", links}, {"speed", speed}}},
                       fmt::format("SELECT * FROM comm_links WHERE rank = {} AND transport = '{}'",
                                   finding.ranks.front(), SqlText(link.transport))}};
  return finding;
}

Finding MakeFinding(const SmallPackets& small) {
  Finding finding;
  finding.rule = RuleId::kSmallPackets;
  finding.subject = {"finding.small_packets", {{"transport", small.transport}}};
  finding.ranks = small.ranks;
  finding.saving = Saving{std::nullopt, small.lost_ms};
  finding.confidence = Confidence::kEstimated;
  finding.effort = Effort::kSetting;
  finding.reason = {"finding.small_packets.reason",
                    {{"percent", fmt::format("{:.0f}", 100 * small.small_share)},
                     {"mb", fmt::format("{}", cluster::LargePacketMb(small.transport))},
                     {"gbps", fmt::format("{:.1f}", small.gbps)},
                     {"expected", fmt::format("{:.1f}", small.expected_gbps)}}};
  finding.advice = {"finding.small_packets.advice"};
  finding.evidence = {{{"evidence.packets", {{"ranks", std::to_string(small.ranks.size())}}},
                       fmt::format("SELECT * FROM comm_packets WHERE rank = {}",
                                   small.ranks.empty() ? 0 : small.ranks.front())}};
  return finding;
}

}  // namespace steplens::analysis
