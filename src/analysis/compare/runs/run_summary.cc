#include "analysis/compare/runs/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "analysis/cluster/summary/robust.h"
#include "analysis/time_math.h"

namespace steplens::analysis::runs {
namespace {

constexpr double kNotThere = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kMostSteps = 256;

int64_t TotalOf(const SumRow& row) {
  int64_t total_ns = 0;
  for (const int64_t step_ns : row.total_ns) total_ns = AddNs(total_ns, step_ns);
  return total_ns;
}

int64_t PerRankAndStep(const SumRow& row) {
  int64_t count = 0;
  for (size_t i = 0; i < row.total_ns.size(); ++i) count += i < row.ranks.size() ? row.ranks[i] : 1;
  return count == 0 ? 0 : TotalOf(row) / count;
}

void AddRow(const SumRow& from, SumRow& to) {
  for (size_t i = 0; i < from.total_ns.size(); ++i) {
    to.total_ns[i] = AddNs(to.total_ns[i], from.total_ns[i]);
    to.calls[i] += from.calls[i];
  }
  for (size_t i = 0; i < from.ranks.size(); ++i)
    to.ranks[i] = std::max(to.ranks[i], from.ranks[i]);  // ranks have most names of "(others)"
}

// Of more than kMostSteps steps, those to keep: evenly spread.
std::vector<size_t> KeptSteps(size_t count) {
  std::vector<size_t> kept;
  const size_t most = std::min(count, kMostSteps);
  for (size_t i = 0; i < most; ++i) kept.push_back(i * count / most);
  return kept;
}

template <typename T>
void Arrange(std::vector<T>& values, const std::vector<size_t>& order) {
  std::vector<T> out;
  for (const size_t place : order) out.push_back(place < values.size() ? values[place] : T{});
  values = std::move(out);
}

}  // namespace

std::string_view PartName(StepPart part) {
  constexpr std::array<std::string_view, kStepParts> kNames = {
      "e2e",       "computing", "communication", "overlapped", "wait",    "free",
      "preparing", "bubble",    "copies",        "memory",     "reserved"};
  return kNames[static_cast<size_t>(part)];
}

std::string_view KindName(RowKind kind) {
  constexpr std::array<std::string_view, kRowKinds> kNames = {"kernel", "type", "operator",
                                                              "module", "comm", "group"};
  return kNames[static_cast<size_t>(kind)];
}

bool IsKnownValue(RowKind kind) { return static_cast<size_t>(kind) < kRowKinds; }

std::string Position::ToText() const {
  if (!is_known) return {};
  std::string text = fmt::format("tp{} pp{} dp{}", tp, pp, dp);
  if (cp > 0) text += fmt::format(" cp{}", cp);
  if (ep > 0) text += fmt::format(" ep{}", ep);
  return text;
}

void KeepLongest(std::vector<SumRow>& rows, size_t per_kind,
                 std::array<int64_t, kRowKinds>& cut_ns) {
  std::stable_sort(rows.begin(), rows.end(), [](const SumRow& x, const SumRow& y) {
    if (x.kind != y.kind) return x.kind < y.kind;
    const bool x_is_rest = x.name == kOthersName;
    const bool y_is_rest = y.name == kOthersName;
    if (x_is_rest != y_is_rest) return y_is_rest;
    const int64_t x_ns = TotalOf(x);
    const int64_t y_ns = TotalOf(y);
    return x_ns != y_ns ? x_ns > y_ns : x.name < y.name;
  });
  std::vector<SumRow> out;
  size_t of_kind = 0;
  for (SumRow& row : rows) {
    const auto kind = static_cast<size_t>(row.kind);
    if (out.empty() || out.back().kind != row.kind) of_kind = 0;
    const bool is_rest = row.name == kOthersName;
    const size_t most = row.kind == RowKind::kGroup ? kGroupsKept : per_kind;
    if (of_kind < most && !is_rest) {
      out.push_back(std::move(row));
      ++of_kind;
      continue;
    }
    if (!is_rest) cut_ns[kind] = std::max(cut_ns[kind], PerRankAndStep(row));
    if (!out.empty() && out.back().kind == row.kind && out.back().name == kOthersName) {
      AddRow(row, out.back());
    } else {
      row.name = kOthersName;
      out.push_back(std::move(row));
    }
  }
  rows = std::move(out);
}

size_t RunFolder::StepPlace(int64_t step) {
  const auto [place, is_new] = step_places_.try_emplace(step, step_places_.size());
  return place->second;
}

void RunFolder::Add(RankPart part, std::string_view level) {
  if (run_.ranks.empty()) run_.level = level;
  if (run_.level != level) run_.level = "mixed";
  std::vector<size_t> places;
  for (const StepSums& step : part.steps) places.push_back(StepPlace(step.step));
  for (SumRow& row : part.rows) {
    const auto [place, is_new] = row_places_.try_emplace({row.kind, row.name}, run_.rows.size());
    if (is_new) {
      run_.rows.emplace_back();
      run_.rows.back().kind = row.kind;
      run_.rows.back().name = row.name;
    }
    SumRow& sum = run_.rows[place->second];
    for (size_t i = 0; i < row.total_ns.size() && i < places.size(); ++i) {
      const size_t at = places[i];
      if (sum.total_ns.size() <= at) {
        sum.total_ns.resize(at + 1);
        sum.calls.resize(at + 1);
        sum.ranks.resize(at + 1);
      }
      sum.total_ns[at] = AddNs(sum.total_ns[at], row.total_ns[i]);
      sum.calls[at] += row.calls[i];
      ++sum.ranks[at];
    }
  }
  for (size_t kind = 0; kind < kRowKinds; ++kind)
    run_.cut_ns[kind] = std::max(run_.cut_ns[kind], part.cut_ns[kind]);
  run_.ranks.push_back({part.rank, part.position, std::move(part.steps)});
}

RunSummary RunFolder::Finish(std::string label) {
  run_.label = std::move(label);
  std::vector<std::pair<int64_t, size_t>> steps(step_places_.begin(), step_places_.end());
  // Ranks that marked no steps have nothing to say beside those that did.
  if (steps.size() > 1 && steps.front().first == store::kNone) steps.erase(steps.begin());
  std::vector<size_t> order;
  for (const size_t kept : KeptSteps(steps.size())) {
    run_.steps.push_back(steps[kept].first);
    order.push_back(steps[kept].second);
  }
  for (SumRow& row : run_.rows) {
    Arrange(row.total_ns, order);
    Arrange(row.calls, order);
    Arrange(row.ranks, order);
  }
  for (RankRun& rank : run_.ranks) {
    std::erase_if(rank.steps, [&](const StepSums& step) {
      return !std::binary_search(run_.steps.begin(), run_.steps.end(), step.step);
    });
  }
  std::erase_if(run_.rows, [](const SumRow& row) { return TotalOf(row) == 0; });
  KeepLongest(run_.rows, kRowsPerKind, run_.cut_ns);
  return std::move(run_);
}

std::vector<double> ValuesOf(const RunSummary& run, const std::vector<size_t>& ranks,
                             StepPart part) {
  std::vector<double> sums(run.steps.size(), 0);
  std::vector<size_t> counts(run.steps.size(), 0);
  for (const size_t at : ranks) {
    for (const StepSums& step : run.ranks[at].steps) {
      const int64_t value = step[part];
      const auto place = std::lower_bound(run.steps.begin(), run.steps.end(), step.step);
      if (value == store::kNone || place == run.steps.end() || *place != step.step) continue;
      const auto i = static_cast<size_t>(place - run.steps.begin());
      sums[i] += static_cast<double>(value);
      ++counts[i];
    }
  }
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = counts[i] == 0 ? kNotThere : sums[i] / static_cast<double>(counts[i]);
  return sums;
}

std::vector<double> JobValues(const RunSummary& run, StepPart part) {
  std::vector<size_t> all(run.ranks.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return ValuesOf(run, all, part);
}

std::vector<double> RowValues(const SumRow& row) {
  std::vector<double> out;
  for (size_t i = 0; i < row.total_ns.size(); ++i) {
    const uint32_t ranks = i < row.ranks.size() ? row.ranks[i] : 1;
    out.push_back(ranks == 0 ? kNotThere : static_cast<double>(row.total_ns[i]) / ranks);
  }
  return out;
}

double CallsOf(const SumRow& row) {
  std::vector<double> calls;
  for (size_t i = 0; i < row.calls.size(); ++i) {
    const uint32_t ranks = i < row.ranks.size() ? row.ranks[i] : 1;
    if (ranks > 0) calls.push_back(static_cast<double>(row.calls[i]) / ranks);
  }
  return cluster::Median(std::move(calls));
}

}  // namespace steplens::analysis::runs
