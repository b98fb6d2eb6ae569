// The reference viewer's answers on a real capture (text, level 1, rank 0), number by number. What
// differs on purpose is listed in docs/metrics.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/json.h"
#include "captures.h"

namespace steplens::viewer_test {
namespace {

using analysis::viewer::ComputeMetric;
using analysis::viewer::MetricAnswer;
using analysis::viewer::MetricArgs;

class Golden : public testing::Test {
 protected:
  void SetUp() override {
    Result<JsonDocument> golden =
        JsonDocument::ReadFile(SharedDir() + "/spec/insight_golden_level1_rank0.json");
    job_ = OpenShared("data/ascend_pt/text/level1/rank0_ascend_pt");
    if (!golden.ok() || !job_) {
      GTEST_SKIP() << "the shared data is not on this machine (" << SharedDir() << ")";
    }
    golden_.emplace(*std::move(golden));
  }

  MetricAnswer Compute(std::string_view name, const MetricArgs& args) {
    Result<MetricAnswer> answer = ComputeMetric(name, args, *job_);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    return answer.ok() ? *std::move(answer) : MetricAnswer{};
  }
  JsonValue golden(std::string_view key) const { return golden_->root()[key]; }

  std::optional<store::Job> job_;
  std::optional<JsonDocument> golden_;
};

// Equal as numbers, to the last digit the golden file has. "-" is an empty cell.
void ExpectSame(JsonValue expected, const table::Table& table, std::string_view column,
                size_t row) {
  const double actual = Number(table, column, row);
  if (expected.AsString() == "-") {
    EXPECT_TRUE(std::isnan(actual) || Text(table, column, row).empty()) << column << " " << row;
    return;
  }
  ASSERT_TRUE(expected.AsDouble()) << expected.ToText();
  EXPECT_DOUBLE_EQ(actual, *expected.AsDouble()) << column << " of row " << row;
}

// The same for several members of a golden object, each with our column.
using Columns = std::initializer_list<std::pair<std::string_view, std::string_view>>;
void ExpectRow(JsonValue expected, const table::Table& table, size_t row, Columns columns) {
  for (const auto& [member, column] : columns) ExpectSame(expected[member], table, column, row);
}

void ExpectNode(JsonValue node, const std::string& parent, const table::Table& table, size_t& row,
                size_t& compared) {
  const std::string name(node["name"].AsString().value_or(""));
  const std::string path = parent.empty() ? name : parent + " > " + name;
  ASSERT_LT(row, table.rows()) << path;
  EXPECT_EQ(Text(table, "path", row), path);
  ExpectRow(node, table, row,
            {{"level", "level"},
             {"totalTime", "total_us"},
             {"ratio", "ratio"},
             {"nums", "count"},
             {"avg", "avg_us"},
             {"min", "min_us"},
             {"max", "max_us"}});
  ++row;
  ++compared;
  node["children"].ForEachElement(
      [&](JsonValue child) { ExpectNode(child, path, table, row, compared); });
}

TEST_F(Golden, OriginIsTheReferences) {
  EXPECT_EQ(std::to_string(analysis::viewer::OriginNs(*job_)), golden("origin_ns").AsString());
}

TEST_F(Golden, OverallMetricsTree) {
  const MetricAnswer answer = Compute("overall", {});
  const table::Table& table = Find(answer, "overall");
  size_t row = 0;
  size_t compared = 0;
  golden("overall_metrics").ForEachElement([&](JsonValue node) {
    ExpectNode(node, "", table, row, compared);
  });
  EXPECT_EQ(row, table.rows());
  EXPECT_EQ(compared, 23u);
}

TEST_F(Golden, LayerSummaries) {
  const std::pair<const char*, const char*> layers[] = {{"Python", "Python API"},
                                                        {"CANN", "CANN API"},
                                                        {"Ascend Hardware", "Ascend Hardware Task"},
                                                        {"COMMUNICATION", "Communication"},
                                                        {"Overlap Analysis", "Overlap Analysis"}};
  for (const auto& [key, layer] : layers) {
    SCOPED_TRACE(layer);
    const MetricAnswer answer = Compute("layer_summary", Args({{"layer", std::string(layer)}}));
    const table::Table& table = Find(answer, "layer_summary");
    // The golden file has an excerpt; its rows come in our order.
    size_t row = 0;
    size_t compared = 0;
    golden(std::string("summary ") + key).ForEachElement([&](JsonValue expected) {
      while (row < table.rows() && Text(table, "Name", row) != expected["name"].AsString()) ++row;
      ASSERT_LT(row, table.rows()) << expected["name"].ToText();
      ExpectRow(expected, table, row,
                {{"time", "Time(%)"},
                 {"totalTime", "Total Time(us)"},
                 {"numberCalls", "Num Calls"},
                 {"avg", "Avg(us)"},
                 {"min", "Min(us)"},
                 {"max", "Max(us)"}});
      ++compared;
    });
    EXPECT_GE(compared, 2u);
    EXPECT_EQ(static_cast<int64_t>(table.rows()),
              golden(std::string("summary ") + key + " total_names").AsInt());
  }
}

TEST_F(Golden, OperatorSharesAndCores) {
  const std::pair<const char*, const char*> modes[] = {
      {"Operator Type", "Computing Operator Type"},
      {"Input Shape", "Computing Operator Name and Input Shape"},
      {"Operator", "Computing Operator"},
      {"Communication Operator Type", "Communication Operator Type"},
      {"Communication Operator", "Communication Operator"}};
  for (const auto& [key, mode] : modes) {
    SCOPED_TRACE(mode);
    const MetricAnswer answer = Compute("operator_groups", Args({{"group_by", std::string(mode)}}));
    const table::Table& pie = Find(answer, "pie");
    size_t row = 0;
    golden(std::string("op category ") + key).ForEachElement([&](JsonValue expected) {
      // Long names are cut at 60 characters in the golden file.
      const std::string wanted(expected["name"].AsString().value_or("?"));
      EXPECT_TRUE(Text(pie, "name", row).starts_with(wanted)) << wanted << " row " << row;
      ExpectSame(expected["duration"], pie, "duration_us", row);
      ++row;
    });
    EXPECT_EQ(row, pie.rows());
    // The reference's ring of cores is of the rows shown, ours of all: it is never less.
    const table::Table& cores = Find(answer, "cores");
    golden(std::string("op core ") + key).ForEachElement([&](JsonValue expected) {
      const std::string wanted(expected["name"].AsString().value_or("?"));
      size_t at = 0;
      while (at < cores.rows() && Text(cores, "name", at) != wanted) ++at;
      ASSERT_LT(at, cores.rows()) << wanted;
      EXPECT_GE(Number(cores, "duration_us", at),
                expected["duration"].AsDouble().value_or(0) - 0.01)
          << wanted;
    });
  }
}

TEST_F(Golden, OperatorStatistic) {
  const MetricAnswer answer =
      Compute("operator_groups", Args({{"group_by", std::string("Computing Operator Type")}}));
  const table::Table& table = Find(answer, "groups");
  size_t row = 0;
  golden("op stat type").ForEachElement([&](JsonValue expected) {
    EXPECT_EQ(Text(table, "Type", row), expected["opType"].AsString());
    EXPECT_EQ(Text(table, "Accelerator Core", row), expected["accCore"].AsString());
    ExpectRow(expected, table, row,
              {{"totalTime", "Total Time(us)"},
               {"count", "Count"},
               {"avgTime", "Avg Time(us)"},
               {"maxTime", "Max Time(us)"},
               {"minTime", "Min Time(us)"}});
    ++row;
  });
  EXPECT_EQ(row, 8u);
}

// The wide rows of the reference (time, then a value or NULL a series) from ours, one point a row.
std::vector<std::string> WideRow(JsonValue row) {
  std::vector<std::string> cells;
  row.ForEachElement([&](JsonValue cell) { cells.push_back(cell.ToText()); });
  return cells;
}

void ExpectPoint(const std::vector<std::string>& wide, const std::vector<std::string>& legends,
                 const table::Table& points) {
  const double time_ms = std::stod(wide[0]);
  for (size_t s = 1; s < wide.size(); ++s) {
    if (wide[s] == "NULL") continue;
    bool found = false;
    for (size_t row = 0; row < points.rows() && !found; ++row) {
      found = Text(points, "series", row) == legends[s] &&
              Number(points, "time_ms", row) == time_ms &&
              Number(points, "value_mb", row) == std::stod(wide[s]);
    }
    EXPECT_TRUE(found) << legends[s] << " at " << wide[0] << " is " << wide[s];
  }
}

TEST_F(Golden, MemoryCurves) {
  for (const char* mode : {"Overall", "Stream", "Component"}) {
    SCOPED_TRACE(mode);
    const MetricAnswer answer = Compute("memory_curve", Args({{"group_by", std::string(mode)}}));
    const table::Table& points = Find(answer, "points");
    const table::Table& peaks = Find(answer, "peaks");
    const JsonValue curve = golden(std::string("mem curve ") + mode);
    std::vector<std::string> legends;
    curve["legends"].ForEachElement([&](JsonValue text) { legends.push_back(text.ToText()); });
    ASSERT_EQ(peaks.rows() + 1, legends.size());
    for (size_t s = 0; s < peaks.rows(); ++s) {
      EXPECT_EQ(Text(peaks, "series", s), legends[s + 1]);
      const JsonValue series = curve["series"][legends[s + 1]];
      ExpectSame(series["points"], peaks, "points", s);
      ExpectSame(series["peak"], peaks, "peak_mb", s);
      const std::string title = curve["title"].ToText();
      const std::string peak = fmt::format(": {:.2f}MB", Number(peaks, "title_mb", s));
      EXPECT_TRUE(title.empty() || title.find(peak) != title.npos) << title << " has no " << peak;
    }
    for (const char* part : {"first", "last"}) {
      curve[part].ForEachElement(
          [&](JsonValue row) { ExpectPoint(WideRow(row), legends, points); });
    }
  }
}

TEST_F(Golden, MemoryComponents) {
  const MetricAnswer answer = Compute("memory_components", {});
  const table::Table& table = Find(answer, "memory_components");
  size_t row = 0;
  golden("mem component").ForEachElement([&](JsonValue expected) {
    EXPECT_EQ(Text(table, "Component", row), expected["component"].AsString());
    ExpectSame(expected["timestamp"], table, "Timestamp(ms)", row);
    ExpectSame(expected["totalReserved"], table, "Peak Memory Reserved(MB)", row);
    ++row;
  });
  EXPECT_EQ(row, table.rows());
}

}  // namespace
}  // namespace steplens::viewer_test
