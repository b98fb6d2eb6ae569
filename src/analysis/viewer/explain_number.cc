#include "analysis/viewer/explain_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/explain/explain_common.h"
#include "analysis/time_math.h"
#include "analysis/viewer/scope.h"

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

constexpr size_t kMostParts = 20;

// A result whose rows are sums, and the one that lists what they are sums of.
struct Behind {
  std::string_view metric;
  std::string_view details;
  // From columns of the row to arguments of the details.
  std::array<std::pair<std::string_view, std::string_view>, 4> args;
};
constexpr std::array kBehind = {
    Behind{"overall", "overall_details", {{{"path", "path"}}}},
    Behind{"operator_groups",
           "operator_details",
           {{{"Type", "type"},
             {"Name", "name"},
             {"Input Shape", "shape"},
             {"Accelerator Core", "core"}}}},
    Behind{"kernel_types", "operator_details", {{{"Type", "type"}, {"Accelerator Core", "core"}}}},
    Behind{"overview", "operator_details", {{{"name", "type"}, {"core", "core"}}}},
};

struct Part {
  std::string name;
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
};

Result<std::vector<Part>> KernelsBehind(const Behind& behind, const NumberQuestion& question,
                                        const store::Job& job) {
  MetricArgs args = question.args;
  for (const auto& [column, name] : behind.args) {
    const auto cell = question.row.find(std::string(column));
    if (!column.empty() && cell != question.row.end() && !cell->second.empty())
      args.values[std::string(name)] = cell->second;
  }
  SL_ASSIGN_OR_RETURN(const MetricAnswer answer, ComputeMetric(behind.details, args, job));
  const table::Table& table = answer.tables.front();
  const table::Column* const name = table.Find("Name");
  const table::Column* const begin = table.Find("Start Time(ns)");
  const table::Column* const dur = table.Find("Duration(us)");
  std::vector<Part> parts;
  if (name == nullptr || begin == nullptr || dur == nullptr) return parts;
  for (size_t i = 0; i < table.rows(); ++i)
    parts.push_back({name->texts[i], begin->ints[i], dur->ints[i]});
  return parts;
}

// A summary of a layer counts the slices of a name.
Result<std::vector<Part>> SlicesBehind(const NumberQuestion& question, const store::Job& job) {
  const MetricCall call{question.args, job, {}};
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  std::vector<Part> parts;
  const auto cell = question.row.find("Name");
  if (cell == question.row.end()) return parts;
  const auto name = store->strings.Find(cell->second);
  if (!name) return parts;
  for (size_t i = 0; i < store->slices.size(); ++i) {
    const int64_t begin_ns = store->slices.begin_ns[i];
    const int64_t dur_ns = store->slices.dur_ns[i];
    if (store->slices.name[i] != *name || !range.Touches(begin_ns, EndNs(begin_ns, dur_ns)))
      continue;
    parts.push_back({cell->second, AddNs(begin_ns, -origin_ns), dur_ns});
  }
  return parts;
}

Result<std::vector<Part>> PartsOf(const NumberQuestion& question, const store::Job& job) {
  if (question.metric == "layer_summary") return SlicesBehind(question, job);
  for (const Behind& behind : kBehind) {
    if (behind.metric == question.metric) return KernelsBehind(behind, question, job);
  }
  return std::vector<Part>{};
}

// What the row is about: its first text.
std::string RowLabel(const NumberQuestion& question) {
  for (const char* column : {"path", "Name", "Type", "name", "rank", "Rank"}) {
    const auto cell = question.row.find(column);
    if (cell != question.row.end() && !cell->second.empty()) return cell->second;
  }
  return question.metric;
}

}  // namespace

Result<NumberAnswer> ExplainNumber(const NumberQuestion& question, const store::Job& job) {
  SL_ASSIGN_OR_RETURN(const MetricAnswer answer,
                      ComputeMetric(question.metric, question.args, job));
  SL_ASSIGN_OR_RETURN(std::vector<Part> parts, PartsOf(question, job));
  const MetricCall call{question.args, job, {}};
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  NumberAnswer out;
  out.rank = store->info.rank;
  out.definition = answer.definition;
  out.query = answer.query;
  const auto value = question.row.find(question.column);
  out.title = Message{"made_of.title",
                      {{"column", question.column},
                       {"row", RowLabel(question)},
                       {"value", value == question.row.end() ? "" : value->second}}};
  if (parts.empty()) {
    out.verdict = Message{"made_of.defined"};
    return out;
  }
  int64_t sum_ns = 0;
  for (const Part& part : parts) sum_ns = AddNs(sum_ns, part.dur_ns);
  out.verdict = Message{"made_of.sum",
                        {{"count", fmt::format("{}", parts.size())}, {"time", TimeText(sum_ns)}}};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& x, const Part& y) { return x.dur_ns > y.dur_ns; });
  parts.resize(std::min(parts.size(), kMostParts));
  for (const Part& part : parts) {
    const double share =
        sum_ns > 0 ? static_cast<double>(part.dur_ns) / static_cast<double>(sum_ns) : 0;
    out.parts.push_back(
        {Message{"made_of.part", {{"name", part.name}}}, share, part.begin_ns, part.dur_ns});
  }
  return out;
}

}  // namespace steplens::analysis::viewer
