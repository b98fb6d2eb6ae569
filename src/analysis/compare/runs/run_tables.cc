#include "analysis/compare/runs/run_tables.h"

#include <cmath>
#include <limits>

#include "analysis/cluster/summary/robust.h"
#include "analysis/viewer/cells.h"

namespace steplens::analysis::runs {
namespace {

using table::Table;
using viewer::IntColumn;
using viewer::NumberColumn;
using viewer::TableRows;
using viewer::TextColumn;

double Scaled(double amount, Unit unit) {
  return amount / (unit == Unit::kBytes ? 1024.0 * 1024 : 1e6);
}

// A share as percent; empty where it is infinite.
double Percent(double share) { return std::isfinite(share) ? share * 100 : viewer::kNoNumber; }

void AddDifference(TableRows& rows, const Difference& one) {
  const Shift& shift = one.shift;
  rows.Add(one.Kind(), one.name, one.unit == Unit::kBytes ? "MB" : "ms", Scaled(shift.a, one.unit),
           Scaled(shift.b, one.unit), Scaled(shift.change, one.unit), Percent(one.relative()),
           Scaled(shift.low, one.unit), Scaled(shift.high, one.unit),
           Scaled(shift.spread, one.unit), one.adjusted_p, VerdictName(one.verdict));
}

TableRows DifferenceRows(std::string name) {
  return {std::move(name),
          {TextColumn("Kind"), TextColumn("Name"), TextColumn("Unit"), NumberColumn("Base", 3),
           NumberColumn("New", 3), NumberColumn("Change", 3), NumberColumn("%", 2),
           NumberColumn("Low", 3), NumberColumn("High", 3), NumberColumn("Spread", 3),
           NumberColumn("p", 4), TextColumn("Verdict")}};
}

Table OverviewTable(const RunComparison& comparison) {
  TableRows rows = DifferenceRows("RunOverview");
  for (const Difference& part : comparison.parts) AddDifference(rows, part);
  return rows.Take();
}

Table RowsTable(const RunComparison& comparison, std::string name, bool of_groups) {
  TableRows rows = DifferenceRows(std::move(name));
  rows.Column(NumberColumn("Step Change(ms)", 3));
  rows.Column(NumberColumn("Base Calls", 1));
  rows.Column(NumberColumn("New Calls", 1));
  for (const Difference& row : comparison.rows) {
    if ((row.kind == RowKind::kGroup) != of_groups) continue;
    AddDifference(rows, row);
    rows.Cell(12, Scaled(row.contribution_ns, Unit::kNs));
    rows.Cell(13, row.a_calls);
    rows.Cell(14, row.b_calls);
  }
  return rows.Take();
}

double MedianMs(const std::vector<double>& values) {
  std::vector<double> numbers;
  for (const double value : values) {
    if (std::isfinite(value)) numbers.push_back(value);
  }
  return numbers.empty() ? viewer::kNoNumber : Scaled(cluster::Median(numbers), Unit::kNs);
}

Table RanksTable(const RunComparison& comparison, const RunSummary& base, const RunSummary& run) {
  TableRows rows = DifferenceRows("RunRanks");
  constexpr std::pair<const char*, StepPart> kParts[] = {
      {"Step", StepPart::kE2e},
      {"Computing", StepPart::kComputing},
      {"Communication", StepPart::kCommunication},
      {"Free", StepPart::kFree}};
  for (const auto& [name, part] : kParts) {
    rows.Column(NumberColumn(std::string("Base ") + name + "(ms)", 3));
    rows.Column(NumberColumn(std::string("New ") + name + "(ms)", 3));
  }
  for (const Difference& rank : comparison.ranks) {
    AddDifference(rows, rank);
    for (const RankPair& pair : comparison.pairing.pairs) {
      if (pair.name != rank.name) continue;
      size_t column = 12;
      for (const auto& [name, part] : kParts) {
        rows.Cell(column++, MedianMs(ValuesOf(base, pair.a, part)));
        rows.Cell(column++, MedianMs(ValuesOf(run, pair.b, part)));
      }
      break;
    }
  }
  return rows.Take();
}

void AddValues(TableRows& rows, std::string_view kind, std::string_view name, Unit unit,
               const std::vector<double>& values, double calls) {
  std::vector<double> numbers;
  for (const double value : values) {
    if (std::isfinite(value)) numbers.push_back(value);
  }
  if (numbers.empty()) return;
  rows.Add(std::string(kind), std::string(name), unit == Unit::kBytes ? "MB" : "ms",
           Scaled(cluster::Median(numbers), unit), Scaled(cluster::RobustSpread(numbers), unit),
           static_cast<int64_t>(numbers.size()), calls);
}

}  // namespace

std::vector<Table> ComparisonTables(const RunComparison& comparison, const RunSummary& base,
                                    const RunSummary& run) {
  std::vector<Table> out;
  out.push_back(OverviewTable(comparison));
  out.push_back(RowsTable(comparison, "RunChanges", false));
  out.push_back(RanksTable(comparison, base, run));
  out.push_back(RowsTable(comparison, "RunGroups", true));
  return out;
}

Table SummaryTable(const RunSummary& run) {
  TableRows rows("RunSummary", {TextColumn("Kind"), TextColumn("Name"), TextColumn("Unit"),
                                NumberColumn("Median", 3), NumberColumn("Spread", 3),
                                IntColumn("Steps"), NumberColumn("Calls", 1)});
  for (size_t i = 0; i < kStepParts; ++i) {
    const auto part = static_cast<StepPart>(i);
    AddValues(rows, IsMemory(part) ? "memory" : "part", PartName(part),
              IsMemory(part) ? Unit::kBytes : Unit::kNs, JobValues(run, part), viewer::kNoNumber);
  }
  for (const SumRow& row : run.rows)
    AddValues(rows, KindName(row.kind), row.name, Unit::kNs, RowValues(row), CallsOf(row));
  return rows.Take();
}

}  // namespace steplens::analysis::runs
