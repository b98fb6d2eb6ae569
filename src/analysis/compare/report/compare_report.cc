#include "analysis/compare/report/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>

#include "analysis/cells.h"
#include "analysis/classify/cpu_words.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/compare/report/close_up.h"
#include "analysis/compare/report/memory_curves.h"
#include "analysis/compare/runs/compare_runs.h"
#include "analysis/compare/runs/rank_part.h"

namespace steplens::analysis::compare {
namespace {

namespace html = table::html;
using html::Text;
using table::Table;

constexpr size_t kShownBars = 16;  // the rest is one bar, so that they add up
constexpr double kSame = 0.005;    // a change of less is none

Text Say(std::string key) { return InBoth(Message{std::move(key)}); }

// What a bar of the waterfall is.
Text BarName(const AccountKey& key) {
  Message what = Note(key.name);
  if (key.kind == AccountKind::kComputing)
    what = Message{fmt::format("compare.class.{}", key.name)};
  if (key.kind == AccountKind::kFree)
    what = Message{fmt::format("compare.cause.{}", key.name.substr(4))};
  if (key.kind == AccountKind::kCommunication && key.name == "other")
    what = Message{"compare.class.other"};
  if (key.kind == AccountKind::kCopy) return Say("compare.account.copy");
  return InBoth(Message{fmt::format("compare.account.{}", KindName(key.kind)), {{"what", what}}});
}

std::string SignedMs(int64_t ns) {
  return fmt::format("{}{:.3f} ms", ns > 0 ? "+" : "", NsToMs(ns));
}

std::string PercentOf(int64_t change_ns, int64_t a_ns) {
  if (a_ns <= 0) return "–";
  return fmt::format("{}{:.2f} %", change_ns > 0 ? "+" : "",
                     100 * static_cast<double>(change_ns) / static_cast<double>(a_ns));
}

// One rank as a run: its steps, or the one that was asked for.
runs::RunSummary SummaryOf(const ReportSide& of) {
  const cluster::RankFacts facts = cluster::DescribeRank(of.side.store);
  runs::RankPart part = runs::SummariseRank(of.side.view, facts);
  if (of.side.step) {
    const auto chosen = std::find_if(part.steps.begin(), part.steps.end(), [&](const auto& step) {
      return step.step == of.side.step->step;
    });
    if (chosen != part.steps.end()) {
      const auto at = chosen - part.steps.begin();
      part.steps = {*chosen};
      for (runs::SumRow& row : part.rows) {
        row.total_ns = {row.total_ns[static_cast<size_t>(at)]};
        row.calls = {row.calls[static_cast<size_t>(at)]};
      }
    }
  }
  runs::RunFolder folder;
  folder.Add(std::move(part), facts.level);
  return folder.Finish(of.side.store.info.path);
}

class ReportMaker {
 public:
  explicit ReportMaker(const ReportInput& input)
      : in_(input),
        waterfall_(CompareAccounts(AccountOfSteps(input.base, input.options),
                                   AccountOfSteps(input.comparison, input.options))),
        summary_a_(SummaryOf(input.base)),
        summary_b_(SummaryOf(input.comparison)),
        comparison_(runs::CompareRuns(summary_a_, summary_b_, input.noise)) {}

  std::string Make(html::Language language) {
    page_.title = Say("compare.report.title");
    page_.subtitle = InBoth(Message{
        "compare.report.subtitle",
        {{"a", in_.base.side.store.info.path}, {"b", in_.comparison.side.store.info.path}}});
    AddSides();
    AddJob();
    AddWaterfall();
    AddRegressions();
    AddChanges();
    AddCloseUp();
    AddMemory();
    AddUnmatched();
    return html::ToHtml(page_, language);
  }

 private:
  html::Section& Section(std::string title) {
    html::Section& section = page_.sections.emplace_back();
    section.title = Say(std::move(title));
    section.words = ComparisonWords();
    return section;
  }
  const Table* Keep(Table table) {
    tables_.push_back(std::make_unique<Table>(std::move(table)));
    return tables_.back().get();
  }
  static Text Joined(const Text& one, const Text& two) {
    return {one.en + "\n\n" + two.en, one.zh + "\n\n" + two.zh};
  }

  bool IsMissing() const { return waterfall_.is_missing_a || waterfall_.is_missing_b; }
  // Which side has no device work, as a sentence.
  Text MissingText() const {
    const bool is_a = waterfall_.is_missing_a;
    if (is_a && waterfall_.is_missing_b) return Say("compare.report.missing_both");
    return InBoth(Message{"compare.report.missing", {{"side", is_a ? "A" : "B"}}});
  }

  void AddSides() {
    html::Section& section = Section("compare.report.sides");
    if (IsMissing()) {
      section.text = MissingText();
    } else {
      const int64_t change_ns = waterfall_.b_ns - waterfall_.a_ns;
      section.text = InBoth(Message{"compare.report.result",
                                    {{"a", fmt::format("{:.3f} ms", NsToMs(waterfall_.a_ns))},
                                     {"b", fmt::format("{:.3f} ms", NsToMs(waterfall_.b_ns))},
                                     {"change", SignedMs(change_ns)},
                                     {"percent", PercentOf(change_ns, waterfall_.a_ns)},
                                     {"verdict", VerdictMessage()}}});
    }
    TableRows rows("Sides",
                   {TextColumn("Side"), TextColumn("Path"), IntColumn("Rank"), TextColumn("Device"),
                    IntColumn("Steps"), NumberColumn("Step(ms)", 3)});
    const auto add = [&](const char* name, const ReportSide& of, int64_t step_ns, bool is_missing) {
      rows.Add(name, of.side.store.info.path, of.side.store.info.rank,
               IsCpuCapture(of.side.store) ? "CPU"
               : of.side.is_gpu            ? "GPU"
                                           : "NPU",
               static_cast<int64_t>(of.side.view.steps().size()),
               is_missing ? kNoNumber : NsToMs(step_ns));
    };
    add("A", in_.base, waterfall_.a_ns, waterfall_.is_missing_a);
    add("B", in_.comparison, waterfall_.b_ns, waterfall_.is_missing_b);
    section.tables.push_back(Keep(rows.Take()));
  }

  // The whole jobs, where there are many ranks: the rest of the page is about one of them.
  void AddJob() {
    if (in_.job.empty()) return;
    html::Section& section = Section("compare.report.job");
    section.text = Say("compare.report.job_text");
    section.max_rows = 50;
    constexpr const char* kTitles[] = {"compare.console.step", "compare.console.names",
                                       "compare.report.ranks", "compare.console.groups"};
    for (size_t i = 0; i < in_.job.size() && i < std::size(kTitles); ++i) {
      if (in_.job[i].rows() == 0) continue;
      const Text title = Say(kTitles[i]);
      Table table(title.en);
      // The others would not fit the page; each other form of the result has them.
      for (const table::Column& column : in_.job[i].columns()) {
        if (column.name != "Low" && column.name != "High" && column.name != "p")
          table.AddColumn(column);
      }
      section.words.zh.emplace(title.en, title.zh);
      section.tables.push_back(Keep(std::move(table)));
    }
  }

  Message VerdictMessage() const {
    for (const runs::Difference& part : comparison_.parts) {
      if (part.subject != runs::Subject::kPart || part.part != runs::StepPart::kE2e) continue;
      constexpr const char* kKeys[] = {"compare.verdict.regression", "compare.verdict.improvement",
                                       "compare.verdict.noise", "compare.verdict.few_steps"};
      return Message{kKeys[static_cast<size_t>(part.verdict)]};
    }
    return Message{"compare.verdict.few_steps"};
  }

  void AddWaterfall() {
    html::Section& section = Section("compare.report.waterfall");
    if (IsMissing()) {
      section.text = MissingText();
      return;
    }
    section.text = Say("compare.report.waterfall_text");
    html::Waterfall chart;
    chart.value_label = Say("compare.report.step_ms");
    chart.first = Say("compare.report.step_a");
    chart.last = Say("compare.report.step_b");
    chart.first_value = NsToMs(waterfall_.a_ns);
    chart.last_value = NsToMs(waterfall_.b_ns);
    const int64_t least_ns = LeastShown();
    int64_t rest_ns = 0;
    for (const Waterfall::Bar& bar : waterfall_.bars) {
      if (bar.change_ns() == 0) continue;
      if (std::abs(bar.change_ns()) < least_ns) {
        rest_ns += bar.change_ns();
        continue;
      }
      chart.changes.push_back({BarName(bar.key), NsToMs(bar.change_ns())});
    }
    if (rest_ns != 0) chart.changes.push_back({Say("compare.account.rest"), NsToMs(rest_ns)});
    section.charts.push_back({Say("compare.report.waterfall"), std::move(chart)});
    section.tables.push_back(Keep(WaterfallTable()));
    for (const Waterfall::Bar& bar : waterfall_.bars) {
      const Text name = BarName(bar.key);
      section.words.zh.emplace(name.en, name.zh);
    }
  }

  // The change of the last bar that has a place of its own.
  int64_t LeastShown() const {
    std::vector<int64_t> changes;
    for (const Waterfall::Bar& bar : waterfall_.bars) changes.push_back(std::abs(bar.change_ns()));
    if (changes.size() <= kShownBars) return 0;
    std::sort(changes.begin(), changes.end(), std::greater<>());
    return changes[kShownBars - 1];
  }

  Table WaterfallTable() const {
    TableRows rows("Step by part",
                   {TextColumn("Part"), NumberColumn("A(ms)", 6), NumberColumn("B(ms)", 6),
                    NumberColumn("B - A(ms)", 6), NumberColumn("Share(%)", 1)});
    const int64_t whole_ns = waterfall_.b_ns - waterfall_.a_ns;
    for (const Waterfall::Bar& bar : waterfall_.bars) {
      rows.Add(BarName(bar.key).en, NsToMs(bar.a_ns), NsToMs(bar.b_ns), NsToMs(bar.change_ns()),
               whole_ns == 0
                   ? kNoNumber
                   : 100.0 * static_cast<double>(bar.change_ns()) / static_cast<double>(whole_ns));
    }
    rows.Add("Step", NsToMs(waterfall_.a_ns), NsToMs(waterfall_.b_ns), NsToMs(whole_ns),
             whole_ns == 0 ? kNoNumber : 100.0);
    return rows.Take();
  }

  void AddRegressions() {
    if (in_.sheets.regressions.empty()) return;
    html::Section& section = Section("compare.report.regressions");
    section.text = Say("compare.report.regressions_text");
    Table table = RegressionTable(in_.sheets.regressions, in_.sheets.total_diff_ns,
                                  analysis::Language::kEnglish);
    for (const Regression& one : in_.sheets.regressions) {
      const Text look = InBoth(one.look_at);
      section.words.zh.emplace(look.en, look.zh);
    }
    section.words.columns.insert("Look at");
    section.tables.push_back(Keep(std::move(table)));
  }

  static std::string_view ChangeWord(const runs::Difference& one) {
    if (one.is_only_b) return "new";
    if (one.is_only_a) return "gone";
    if (std::fabs(one.relative()) <= kSame && !one.calls_changed()) return "same";
    return one.shift.change > 0 ? "slower" : one.shift.change < 0 ? "faster" : "same";
  }

  Table ChangesTable(runs::RowKind kind, const char* name) const {
    TableRows rows(name,
                   {TextColumn("Name"), TextColumn("Change"), NumberColumn("A(ms)", 4),
                    NumberColumn("B(ms)", 4), NumberColumn("B - A(ms)", 4), NumberColumn("%", 2),
                    NumberColumn("Calls A", 1), NumberColumn("Calls B", 1),
                    NumberColumn("Spread(ms)", 4), TextColumn("Verdict")});
    for (const runs::Difference& one : comparison_.rows) {
      if (one.kind != kind || ChangeWord(one) == "same") continue;
      const double percent = one.relative() * 100;
      rows.Add(one.name, ChangeWord(one), one.is_only_b ? kNoNumber : one.shift.a / 1e6,
               one.is_only_a ? kNoNumber : one.shift.b / 1e6, one.shift.change / 1e6,
               std::isfinite(percent) ? percent : kNoNumber, one.a_calls, one.b_calls,
               one.shift.spread / 1e6, runs::VerdictName(one.verdict));
    }
    return rows.Take();
  }

  void AddChanges() {
    html::Section& section = Section("compare.report.changes");
    section.text = Say("compare.report.changes_text");
    section.max_rows = 50;
    const std::pair<runs::RowKind, const char*> kKinds[] = {
        {runs::RowKind::kKernel, "Kernels"},
        {runs::RowKind::kOperator, "Operators"},
        {runs::RowKind::kModule, "Modules"},
        {runs::RowKind::kCollective, "Communication"}};
    for (const auto& [kind, name] : kKinds) {
      Table table = ChangesTable(kind, name);
      if (table.rows() > 0) section.tables.push_back(Keep(std::move(table)));
    }
    if (section.tables.empty()) section.text = Say("compare.report.no_changes");
  }

  // Lanes of A above those of B, each in the colour of its side.
  void AddCloseUp() {
    html::Section& section = Section("compare.report.close_up");
    const std::optional<CloseUp> found = FindCloseUp(in_.base.side, in_.comparison.side);
    if (!found) {
      section.text = Say("compare.report.no_close_up");
      return;
    }
    const auto step_of = [](const CloseUp::Half& half) {
      return half.step == store::kNone ? std::string("–") : std::to_string(half.step);
    };
    section.text = InBoth(Message{"compare.report.close_up_text",
                                  {{"change", SignedMs(found->change_ns)},
                                   {"before", found->before},
                                   {"after", found->after},
                                   {"a_step", step_of(found->a)},
                                   {"b_step", step_of(found->b)}}});
    html::TimelineChart chart;
    chart.x_label = Say("compare.report.window_us");
    chart.length = NsToUs(found->length_ns);
    chart.series = {{"A", ""}, {"B", ""}};
    chart.highlighted = Say("compare.report.alone");
    AddLanes(found->a, "A", 0, chart);
    AddLanes(found->b, "B", 1, chart);
    section.charts.push_back({Say("compare.report.close_up"), std::move(chart)});
  }

  static void AddLanes(const CloseUp::Half& half, const char* side, size_t series,
                       html::TimelineChart& chart) {
    for (const CloseUp::Lane& lane : half.lanes) {
      if (lane.slices.empty()) continue;
      const Text name =
          lane.name.empty() ? Say("compare.report.host_lane") : Text{lane.name, lane.name};
      html::TimelineChart::Lane& out = chart.lanes.emplace_back();
      out.name = {fmt::format("{} {}", side, name.en), fmt::format("{} {}", side, name.zh)};
      out.series = series;
      for (const CloseUp::Slice& slice : lane.slices) {
        out.slices.push_back(
            {NsToUs(slice.time.begin_ns), NsToUs(slice.time.end_ns), slice.name, slice.is_alone});
      }
    }
  }

  void AddMemory() {
    html::Section& section = Section("compare.report.memory");
    const MemoryCurves curves = CollectMemoryCurves(in_.base.side.store, in_.comparison.side.store);
    if (curves.curves.empty()) {
      section.text = Say("compare.report.no_memory");
      return;
    }
    section.text = Say("compare.report.memory_text");
    for (const MemoryCurves::Curve& curve : curves.curves) {
      html::LineChart chart;
      chart.x_label = Say("compare.report.since_first_ms");
      chart.value_label = {"MB", ""};
      chart.x = curves.ms;
      chart.series = {{{"A", ""}, curve.a}, {{"B", ""}, curve.b}};
      const bool is_allocated = curve.name == "Operators Allocated";
      section.charts.push_back(
          {Say(is_allocated ? "compare.report.allocated" : "compare.report.reserved"),
           std::move(chart)});
    }
  }

  void AddUnmatched() {
    html::Section& section = Section("compare.report.unmatched");
    section.text = Say("compare.report.unmatched_text");
    for (const ResultSheet& sheet : in_.sheets.sheets) {
      if (sheet.table.name() == "Unmatched") section.tables.push_back(Keep(WithUniqueNames(sheet)));
    }
    if (section.tables.empty()) section.text = Say("compare.report.all_matched");
    for (const Message& note : in_.sheets.notes) section.text = Joined(section.text, InBoth(note));
  }

  const ReportInput& in_;
  const Waterfall waterfall_;
  const runs::RunSummary summary_a_;
  const runs::RunSummary summary_b_;
  const runs::RunComparison comparison_;
  html::Page page_;
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace

std::string CompareReport(const ReportInput& input, html::Language language) {
  return ReportMaker(input).Make(language);
}

}  // namespace steplens::analysis::compare
