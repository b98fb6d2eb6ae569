#include "analysis/advice/finding_table.h"

#include <fmt/format.h>

#include "analysis/cells.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using table::CellType;

// The page that has the numbers behind a finding.
std::string_view PageOf(RuleId rule) {
  switch (rule) {
    case RuleId::kLateRank:
    case RuleId::kLateGroup:
    case RuleId::kUnevenLoad:
    case RuleId::kSlowLink:
      return "cluster";
    case RuleId::kSmallPackets:
    case RuleId::kExposedCommunication:
    case RuleId::kByteAlignment:
    case RuleId::kContention:
    case RuleId::kRetransmission:
    case RuleId::kPacket:
      return "communication";
    case RuleId::kConversion:
    case RuleId::kUnsteadyKernel:
    case RuleId::kBlockDim:
    case RuleId::kNoBound:
    case RuleId::kCorePerformance:
    case RuleId::kFusibleOps:
      return "operators";
    default:
      return "timeline";
  }
}

// "12.3 ms of 25.2 ms free; ...": all evidence in one text.
std::string EvidenceText(const Finding& finding, Language language) {
  std::string text;
  for (const Finding::Evidence& one : finding.evidence)
    text += (text.empty() ? "" : "; ") + Render(one.text, language);
  return text;
}

std::string EvidenceQuery(const Finding& finding) {
  std::string text;
  for (const Finding::Evidence& one : finding.evidence)
    text += (text.empty() ? "" : ";\n") + one.query;
  return text;
}

}  // namespace

table::Table ClusterFindingTable(const std::vector<Finding>& findings, double step_ms) {
  table::Table table("ClusterFindings");
  for (const char* name : {"kind", "subject", "ranks", "feltIn"})
    table.AddColumn(name, CellType::kText);
  table.AddColumn("msPerStep", CellType::kDouble);
  table.AddColumn("shareOfStep(%)", CellType::kDouble, 1);
  for (const char* name : {"reason", "advice", "subjectZh", "reasonZh", "adviceZh"})
    table.AddColumn(name, CellType::kText);
  table.AddColumn("hidden", CellType::kInt);
  for (const char* name : {"confidence", "effort"}) table.AddColumn(name, CellType::kText);
  for (const Finding& finding : findings) {
    const double ms = finding.saving ? finding.saving->Best() : 0;
    table.AppendText(0, RuleName(finding.rule));
    table.AppendText(1, English(finding.subject));
    table.AppendText(2, ShortRanks(finding.ranks));
    table.AppendText(3, finding.felt_in);
    table.AppendDouble(4, ms);
    table.AppendDouble(5, step_ms > 0 ? 100 * ms / step_ms : 0);
    table.AppendText(6, English(finding.WholeReason()));
    table.AppendText(7, English(finding.advice));
    table.AppendText(8, Chinese(finding.subject));
    table.AppendText(9, Chinese(finding.WholeReason()));
    table.AppendText(10, Chinese(finding.advice));
    table.AppendInt(11, finding.is_hidden ? 1 : 0);
    table.AppendText(12, ConfidenceName(finding.confidence));
    table.AppendText(13, EffortName(finding.effort));
  }
  return table;
}

table::Table FindingTable(const std::vector<Finding>& findings, double step_us, int64_t origin_ns) {
  TableRows rows("findings",
                 {TextColumn("kind"),     TextColumn("subject"),      TextColumn("subjectZh"),
                  TextColumn("reason"),   TextColumn("reasonZh"),     TextColumn("advice"),
                  TextColumn("adviceZh"), NumberColumn("gain_us", 3), NumberColumn("share", 2),
                  IntColumn("is_bound"),  TextColumn("confidence"),   TextColumn("effort"),
                  TextColumn("ranks"),    IntColumn("rank"),          IntColumn("t0_ns"),
                  IntColumn("t1_ns"),     TextColumn("name"),         TextColumn("page"),
                  TextColumn("evidence"), TextColumn("evidenceZh"),   TextColumn("query")});
  for (const Finding& one : findings) {
    // What something slower hides saves nothing yet.
    const bool has_gain = one.saving && !one.is_hidden;
    const double gain_us = has_gain ? one.saving->Best() * 1000 : kNoNumber;
    const Place place = one.places.empty() ? Place{} : one.places.front();
    const bool has_place = !one.places.empty();
    const int64_t rank = has_place           ? place.rank
                         : one.ranks.empty() ? store::kNone
                                             : one.ranks.front();
    rows.Add(RuleName(one.rule), English(one.subject), Chinese(one.subject),
             English(one.WholeReason()), Chinese(one.WholeReason()), English(one.advice),
             Chinese(one.advice), RoundTo(gain_us, 3),
             step_us > 0 ? RoundTo(100 * gain_us / step_us, 2) : kNoNumber,
             has_gain && !one.saving->ms ? 1 : 0, ConfidenceName(one.confidence),
             EffortName(one.effort), ShortRanks(one.ranks), rank,
             has_place ? AddNs(place.range.begin_ns, -origin_ns) : store::kNone,
             has_place ? AddNs(place.range.end_ns, -origin_ns) : store::kNone, place.name,
             PageOf(one.rule), EvidenceText(one, Language::kEnglish),
             EvidenceText(one, Language::kChinese), EvidenceQuery(one));
  }
  return rows.Take();
}

}  // namespace steplens::analysis
