#include "cluster/summary_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace steplens::cluster {
namespace {

using table::Column;
using table::Table;

double Number(const Table& table, std::string_view column, size_t row) {
  const table::Column* found = table.Find(column);
  if (found->type == table::CellType::kDouble) return found->doubles[row];
  return static_cast<double>(found->ints[row]);
}

const std::string& Cell(const Table& table, std::string_view column, size_t row) {
  return table.Find(column)->texts[row];
}

std::string JobText(const Table& overview, bool chinese) {
  const auto number = [&](const char* name) { return Number(overview, name, 0); };
  const auto seen = static_cast<int64_t>(number("ranksSeen"));
  const table::Column* expected = overview.Find("ranksExpected");
  const std::string ranks = expected->ints[0] == table::kNull
                                ? std::to_string(seen)
                                : fmt::format("{}/{}", seen, expected->ints[0]);
  const auto steps = static_cast<int64_t>(number("steps"));
  const auto groups = static_cast<int64_t>(number("groups"));
  std::string text =
      chinese
          ? fmt::format("{} 卡，{} 步，{} 个通信域。每步 {:.3f} ms：", ranks, steps, groups,
                        number("step(ms)"))
          : fmt::format(
                "{} ranks, {} step{}, {} communication group{}. A step takes {:.3f} ms: ", ranks,
                steps, steps == 1 ? "" : "s", groups, groups == 1 ? "" : "s", number("step(ms)"));
  // Only a GPU's copies are told from free time.
  const double copies = number("copies(%)");
  const std::string copies_text =
      copies < 0.05
          ? ""
          : fmt::format(fmt::runtime(chinese ? "拷贝 {:.1f}%，" : "copies {:.1f} %, "), copies);
  text += fmt::format(
      fmt::runtime(chinese
                       ? "计算 {:.1f}%，未掩盖通信 {:.1f}%，{}空闲 {:.1f}%；卡间等待 {:.1f}%。\n"
                       : "computing {:.1f} %, communication not overlapped {:.1f} %, {}free "
                         "{:.1f} %; ranks wait {:.1f} % of it for each other.\n"),
      number("computing(%)"), number("communicationNotOverlapped(%)"), copies_text,
      number("free(%)"), number("waiting(%)"));
  const auto partly = static_cast<int64_t>(number("callsPartlySeen"));
  if (partly > 0) {
    text += fmt::format(
        fmt::runtime(
            chinese ? "{} 次通信只采集到部分成员，仅比较已采集的卡。\n"
                    : "{} communication calls were captured on some of their ranks only; these "
                      "are compared.\n"),
        partly);
  }
  return text;
}

std::string FindingText(const Table& findings, size_t row, bool chinese) {
  const std::string& kind = Cell(findings, "kind", row);
  const bool is_late = kind == "late_rank" || kind == "late_group";
  const std::string& felt_in = Cell(findings, "feltIn", row);
  std::string line =
      fmt::format("{}. {}", row + 1, Cell(findings, chinese ? "subjectZh" : "subject", row));
  if (kind == "late_group" || kind == "small_packets") {
    const std::string& ranks = Cell(findings, "ranks", row);
    const std::string_view word = ranks.find(',') == ranks.npos ? "rank" : "ranks";
    line += fmt::format(" ({} {})", chinese ? "卡" : word, ranks);
  }
  const double ms = Number(findings, "msPerStep", row);
  const double share = Number(findings, "shareOfStep(%)", row);
  const Column* hidden = findings.Find("hidden");
  const bool is_hidden = hidden != nullptr && hidden->ints[row] != 0;
  if (is_late && is_hidden) {
    line += fmt::format(
        fmt::runtime(chinese ? "：否则每步会使其他卡等待 {:.3f} ms（{:.1f}%）"
                             : " would keep the others waiting {:.3f} ms a step ({:.1f} %)"),
        ms, share);
  } else if (is_late) {
    line +=
        fmt::format(fmt::runtime(chinese ? "：每步使其他卡等待 {:.3f} ms（{:.1f}%）"
                                         : " keeps the others waiting {:.3f} ms a step ({:.1f} %)"),
                    ms, share);
    if (!felt_in.empty())
      line += fmt::format(
          fmt::runtime(chinese ? "，主要在 {} 通信域" : ", most of it in {} groups"), felt_in);
  } else {
    line += fmt::format(fmt::runtime(chinese ? "：每步损失 {:.3f} ms（{:.1f}%）"
                                             : " costs {:.3f} ms a step ({:.1f} %)"),
                        ms, share);
  }
  line += fmt::format("{}{}{}\n", chinese ? "：" : ": ",
                      Cell(findings, chinese ? "reasonZh" : "reason", row), chinese ? "。" : ".");
  return line + fmt::format("   -> {}\n", Cell(findings, chinese ? "adviceZh" : "advice", row));
}

}  // namespace

const Table* FindTable(std::span<const Export> exports, std::string_view name) {
  for (const Export& one : exports) {
    for (const analysis::cluster::ResultTable& result : one.answer->tables) {
      if (result.table.name() == name) return &result.table;
    }
  }
  return nullptr;
}

std::string SummaryText(std::span<const Export> exports, bool chinese) {
  const Table* overview = FindTable(exports, "ClusterOverview");
  const Table* findings = FindTable(exports, "ClusterFindings");
  if (overview == nullptr || findings == nullptr) return {};
  if (overview->rows() == 0)
    return chinese ? "没有可比较的步或通信。\n"
                   : "No capture has steps or communication to compare.\n";
  std::string text = JobText(*overview, chinese);
  constexpr size_t kShown = 8;
  for (size_t row = 0; row < std::min(findings->rows(), kShown); ++row)
    text += FindingText(*findings, row, chinese);
  if (findings->rows() > kShown) {
    text += fmt::format(fmt::runtime(chinese ? "另有 {} 项，见 ClusterFindings。\n"
                                             : "and {} more in ClusterFindings.\n"),
                        findings->rows() - kShown);
  }
  if (findings->rows() > 0 && Number(*overview, "callsPartlySeen", 0) > 0) {
    text += chinese ? "由于部分卡未采集，上述代价根据等待时间估算。\n"
                    : "What these cost is estimated from waits, as not all ranks of all calls were "
                      "captured.\n";
  }
  if (findings->rows() == 0)
    text += chinese ? "没有明显偏慢的卡、通信域或链路。\n" : "No rank, group or link stands out.\n";
  return text;
}

}  // namespace steplens::cluster
