// The named results on every kind of capture: they hold together, and nothing breaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "analysis/classify/classify.h"
#include "analysis/clocks/align.h"
#include "analysis/explain/explain.h"
#include "analysis/overlap/overlap_lanes.h"
#include "analysis/viewer/flame.h"
#include "captures.h"

namespace steplens::viewer_test {
namespace {

using namespace analysis;
using namespace analysis::viewer;
using analysis::TrackKind;

// Paths below the shared data; the sample of the project comes first.
const char* const kCaptures[] = {
    "",
    "data/ascend_pt/text/level0",
    "data/ascend_pt/text/level1",
    "data/ascend_pt/db/level0",
    "data/ascend_pt/db/level1",
    "data/kineto/hta/timeline_analysis",
    "data/kineto/hta/nccl_parser_config",
    "data/kineto/hta/amd_trace",
    "data/kineto/hta/cpu_only",
    "data/kineto/hta/critical_path/alexnet",
    "data/kineto/hta/triton_example",
    "data/kineto/tb_plugin/resnet50_num_workers_0",
};

std::optional<store::Job> Open(const std::string& path) {
  if (!path.empty()) return OpenShared(path);
  Result<store::Job> job = opening::OpenJob({STEPLENS_SAMPLE_DIR}, {.use_cache = false});
  if (!job.ok()) return std::nullopt;
  return *std::move(job);
}

// Read once for all tests, which only look at it: reading takes longer than most of them. Null if
// it is not on this machine.
const store::Job* Captured(const std::string& path) {
  static std::map<std::string, std::optional<store::Job>> jobs;
  const auto [place, is_new] = jobs.try_emplace(path);
  if (is_new) place->second = Open(path);
  return place->second ? &*place->second : nullptr;
}

class OnCapture : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    captured_ = Captured(GetParam());
    if (captured_ == nullptr)
      GTEST_SKIP() << "not on this machine: " << SharedDir() << "/" << GetParam();
  }
  const store::Job& job() const { return *captured_; }

 private:
  const store::Job* captured_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Viewer, OnCapture, testing::ValuesIn(kCaptures));

void ExpectWhole(const MetricAnswer& answer, const std::string& what) {
  EXPECT_FALSE(answer.tables.empty()) << what;
  for (const table::Table& table : answer.tables) {
    for (const table::Column& column : table.columns()) {
      EXPECT_EQ(column.size(), table.rows()) << what << " " << table.name() << " " << column.name;
    }
  }
}

TEST_P(OnCapture, EveryMetricAnswers) {
  for (const MetricEntry& metric : Metrics()) {
    const auto takes = [&](std::string_view name) {
      return std::find(metric.args.begin(), metric.args.end(), name) != metric.args.end();
    };
    for (const store::TraceStore& rank : job().ranks) {
      if (!takes("rank") && &rank != &job().ranks.front()) continue;  // it would answer the same
      MetricArgs args;
      args.values.emplace("rank", rank.info.rank);
      const Result<MetricAnswer> all = ComputeMetric(metric.name, args, job());
      ASSERT_TRUE(all.ok()) << metric.name << ": " << all.error().message;
      ExpectWhole(*all, metric.name);
      if (!takes("t0")) continue;
      args.values.emplace("t0", int64_t{1000000});
      args.values.emplace("t1", int64_t{50000000});
      const Result<MetricAnswer> part = ComputeMetric(metric.name, args, job());
      ASSERT_TRUE(part.ok()) << metric.name << ": " << part.error().message;
      ExpectWhole(*part, metric.name);
    }
  }
}

TEST_P(OnCapture, EveryChoiceOfAnArgumentIsTaken) {
  const std::tuple<const char*, const char*, std::vector<const char*>> choices[] = {
      {"layer_summary",
       "layer",
       {"Python API", "CANN API", "Ascend Hardware Task", "Communication", "Overlap Analysis"}},
      {"operator_groups",
       "group_by",
       {"Computing Operator", "Computing Operator Type", "Computing Operator Name and Input Shape",
        "Communication Operator", "Communication Operator Type"}},
      {"memory_curve", "group_by", {"Overall", "Stream", "Component"}},
      {"summary_arrangement", "dimension", {"DP", "DP+PP", "DP+PP+CP", "DP+PP+CP+TP"}}};
  for (const auto& [metric, name, values] : choices) {
    for (const char* value : values) {
      const auto answer = ComputeMetric(metric, Args({{name, std::string(value)}}), job());
      ASSERT_TRUE(answer.ok()) << metric << " " << value;
      ExpectWhole(*answer, metric);
    }
    const auto wrong = ComputeMetric(metric, Args({{name, std::string("nonsense")}}), job());
    ASSERT_FALSE(wrong.ok()) << metric;
    EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_P(OnCapture, OverallAddsUpToTheWhole) {
  for (const store::TraceStore& rank : job().ranks) {
    const auto answer = ComputeMetric("overall", Args({{"rank", rank.info.rank}}), job());
    ASSERT_TRUE(answer.ok());
    const table::Table& table = Find(*answer, "overall");
    double sum_us = 0;
    double whole_us = 0;
    double computing_us = 0;
    double computing_parts_us = 0;
    for (size_t row = 0; row < table.rows(); ++row) {
      const std::string path = Text(table, "path", row);
      const double total_us = Number(table, "total_us", row);
      const double level = Number(table, "level", row);
      if (path == "E2E Time") whole_us = total_us;
      if (path == "Computing Time") computing_us = total_us;
      if (level == 1 && path != "E2E Time") sum_us += total_us;
      if (level == 2 && path.starts_with("Computing")) computing_parts_us += total_us;
    }
    EXPECT_NEAR(sum_us, whole_us, 0.03);
    // Kernels of several streams may overlap: together they are at least what was computed.
    if (computing_parts_us > 0) {
      EXPECT_GE(computing_parts_us, computing_us - 0.1);
    }
  }
}

TEST_P(OnCapture, LanesAreWhatTheyAreCalled) {
  for (const store::TraceStore& rank : job().ranks) {
    for (const OverlapLanes& lanes : ComputeOverlapLanes(rank)) {
      EXPECT_LE(TotalLength(lanes.not_overlapped), TotalLength(lanes.communication));
      if (lanes.is_delivered) continue;
      std::vector<analysis::Interval> all = lanes.computing;
      for (const auto* lane : {&lanes.not_overlapped, &lanes.memory, &lanes.free}) {
        all.insert(all.end(), lane->begin(), lane->end());
      }
      EXPECT_EQ(analysis::UnionLength((analysis::SortIntervals(all), all)), lanes.TotalNs());
    }
  }
}

TEST_P(OnCapture, SharesOfALayerAddUpToAHundred) {
  const auto answer =
      ComputeMetric("layer_summary", Args({{"layer", std::string("Python API")}}), job());
  ASSERT_TRUE(answer.ok());
  const table::Table& table = Find(*answer, "layer_summary");
  if (table.rows() == 0) return;
  double sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) sum += Number(table, "Time(%)", row);
  EXPECT_NEAR(sum, 100, 0.01 * static_cast<double>(table.rows()));
}

TEST_P(OnCapture, CausesOfAGapAddUpToIt) {
  size_t explained = 0;
  const store::TraceStore& rank = job().ranks.front();
  for (const OverlapLanes& lanes : ComputeOverlapLanes(rank)) {
    for (size_t i = 0; i < std::min<size_t>(lanes.free.size(), 20); ++i) {
      const auto why = ExplainGap(job(), 0, store::kNoTrack, lanes.free[i]);
      ASSERT_TRUE(why.ok()) << why.error().message;
      EXPECT_FALSE(why->verdict.empty());
      if (why->verdict.key == "gap.unknown") continue;
      ASSERT_GE(why->items.size(), 4u);
      int64_t sum_ns = 0;
      for (size_t cause = 0; cause < 4; ++cause) {
        EXPECT_GE(why->items[cause].ns, 0);
        sum_ns += why->items[cause].ns;
      }
      EXPECT_EQ(sum_ns, lanes.free[i].end_ns - lanes.free[i].begin_ns);
      ++explained;
    }
  }
  if (std::string(GetParam()) == "data/ascend_pt/text/level1") {
    EXPECT_GE(explained, 15u);
  }
}

TEST_P(OnCapture, EverySliceCanBeExplained) {
  const store::TraceStore& rank = job().ranks.front();
  const size_t stride = std::max<size_t>(1, rank.slices.size() / 30);
  for (size_t i = 0; i < rank.slices.size(); i += stride) {
    const auto why = ExplainSlice(job(), 0, static_cast<store::SliceId>(i));
    ASSERT_TRUE(why.ok());
    EXPECT_FALSE(why->verdict.empty());
  }
}

TEST_P(OnCapture, WaitAndTransferAreTheWholeCollective) {
  const store::TraceStore& rank = job().ranks.front();
  const std::vector<TrackKind> kinds = analysis::ClassifyTracks(rank);
  size_t found = 0;
  for (size_t i = 0; i < rank.slices.size() && found < 10; ++i) {
    const auto track = static_cast<size_t>(rank.slices.track[i]);
    if (track >= kinds.size() || kinds[track] != TrackKind::kCommGroup) continue;
    const auto why = ExplainWait(job(), 0, static_cast<store::SliceId>(i));
    if (!why.ok()) continue;
    ++found;
    if (why->verdict.key == "wait.alone") continue;
    // The parts come first, then what they rest on.
    double share = 0;
    for (const Evidence& item : why->items) {
      if (item.wording.key.starts_with("wait.source")) break;
      share += item.share;
    }
    EXPECT_NEAR(share, 1, 1e-9);
  }
}

TEST_P(OnCapture, SelfTimesOfAFlameAddUp) {
  const store::TraceStore& rank = job().ranks.front();
  std::vector<TrackRef> tracks;
  for (uint32_t t = 0; t < rank.tracks.size(); ++t) tracks.push_back({0, store::TrackId{t}});
  for (const FlameNode& node : BuildFlame(job(), tracks, {})) {
    EXPECT_GE(node.self_ns, 0);
    EXPECT_LE(node.self_ns, node.total_ns);
    EXPECT_GT(node.count, 0);
  }
}

TEST_P(OnCapture, RanksCanBeAligned) {
  const RankOffsets offsets = AlignByCollectives(job());
  EXPECT_EQ(offsets.offset_ns.size(), job().ranks.size());
  EXPECT_EQ(offsets.offset_ns.front(), 0);
}

// Two of eight ranks: communication.json says 0.239 ms of transit, 5.647 ms of waiting, the rest
// idle.
TEST(RealRanks, TheWaitOfTheFirstCollectiveIsFound) {
  const std::optional<store::Job> job = OpenShared("data/ascend_pt/text/level1");
  if (!job) GTEST_SKIP() << "the shared data is not on this machine (" << SharedDir() << ")";
  const store::TraceStore& rank = job->ranks.front();
  for (size_t i = 0; i < rank.slices.size(); ++i) {
    if (rank.Text(rank.slices.name[i]) != "hcom_allReduce__586_0_1") continue;
    const auto why = ExplainWait(*job, 0, static_cast<store::SliceId>(i));
    if (!why.ok()) continue;
    EXPECT_EQ(why->items[0].ns, 5646633);
    EXPECT_EQ(why->items[1].ns, 79089520 - 5646633 - 239185);
    EXPECT_EQ(why->items[2].ns, 239185);
    EXPECT_EQ(English(why->verdict),
              "73.2 ms idle, cause not captured: 6 of 8 ranks of the group are missing");
    const auto aligned =
        AlignBySlice(*job, 0, static_cast<store::SliceId>(i), AlignSide::kRight, 0);
    ASSERT_TRUE(aligned.ok());
    EXPECT_EQ(aligned->offset_ns[1], 163961360 + 73475168 - 158353644 - 79089520);
    return;
  }
  FAIL() << "the collective is not there";
}

}  // namespace
}  // namespace steplens::viewer_test
