#include "open/open.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/scratch_folder.h"

namespace steplens::opening {
namespace {

namespace fs = std::filesystem;

TEST(OpenJob, CountsValuesThatNoPartOfAStepCanLast) {
  std::string folder = "/tmp/steplens_open_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const fs::path output = fs::path(folder) / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT";
  fs::create_directories(output);
  const auto issues_of = [&](const std::string& free_us) {
    std::ofstream(output / "step_trace_time.csv")
        << "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage\n"
        << "5,10,0,0,0,2,12\n6,10,0,0,0," << free_us << ",12\n";
    OpenOptions options;
    options.use_cache = false;
    const Result<store::Job> job = OpenJob({folder}, options);
    EXPECT_TRUE(job.ok()) << job.error().message;
    EXPECT_GT(job->ranks.front().info.files.front().read_ns, 0);
    return job->ranks.front().issues.entry(store::IssueKind::kStepValueInvalid);
  };
  EXPECT_EQ(issues_of("2").count, 0u);
  EXPECT_EQ(issues_of("-0.0005").count, 0u);  // sums of doubles may miss zero
  EXPECT_EQ(issues_of("1e20").count, 1u);
  EXPECT_EQ(issues_of("-30").example,
            "step_trace_time row 2: Free is -30 us, which no part of a step can last");
  fs::remove_all(folder);
}

// An exporter cuts a long timeline into files; a launch may stand in one and its task in the next.
TEST(OpenJob, ArrowsGoFromOneFileOfATimelineIntoAnother) {
  const ScratchFolder folder;
  const fs::path output = folder / "mindstudio_profiler_output";
  fs::create_directory(output);
  const auto event = [](std::string_view phase, int id, int pid, int ts) {
    return fmt::format(
        R"({{"ph": "{}", "name": "HostToDevice{}", "cat": "HostToDevice", "id": "{}", "pid": {},)"
        R"( "tid": 1, "ts": "{}", "dur": 1}})",
        phase, id, id, pid, ts);
  };
  std::ofstream(output / "msprof_slice_0_20250109.json") << fmt::format(
      "[{},{},{}]", event("X", 0, 1, 10), event("s", 7, 1, 10), event("s", 8, 1, 11));
  std::ofstream(output / "msprof_slice_1_20250109.json") << fmt::format(
      "[{},{},{}]", event("X", 0, 2, 20), event("f", 7, 2, 20), event("f", 9, 2, 21));
  OpenOptions options;
  options.use_cache = false;
  const Result<store::Job> job = OpenJob({output.string()}, options);
  ASSERT_TRUE(job.ok()) << job.error().message;
  ASSERT_EQ(job->ranks.size(), 1u);
  const store::TraceStore& rank = job->ranks.front();
  ASSERT_EQ(rank.flows.size(), 1u);
  EXPECT_EQ(rank.Text(rank.flows.kind[0]), "HostToDevice");
  EXPECT_EQ(rank.flows.from_track[0], rank.slices.track[0]);
  EXPECT_EQ(rank.flows.to_track[0], rank.slices.track[1]);
  EXPECT_EQ(rank.flows.to_ns[0], 20'000);
  EXPECT_EQ(rank.issues.entry(store::IssueKind::kFlowWithoutStart).count, 1u);
  EXPECT_EQ(rank.issues.entry(store::IssueKind::kFlowWithoutEnd).count, 1u);
}

// A capture of rank 0 that says it where Kineto does, with one operator.
void WriteTrace(const fs::path& path, int64_t rank) {
  std::ofstream(path) << fmt::format(
      R"({{"distributedInfo": {{"pg_config": [{{"pg": 0}}], "rank": {}}}, "traceEvents": [)"
      R"({{"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10, "dur": 5}}]}})",
      rank);
}

TEST(OpenJob, OfTwoTracesOfARankOneIsReadAndTheOtherListed) {
  const ScratchFolder folder;
  WriteTrace(folder / "a.json", 3);
  WriteTrace(folder / "b.json", 3);
  const Result<store::Job> job = OpenJob({folder.path()}, {.use_cache = false});
  ASSERT_TRUE(job.ok()) << job.error().message;
  ASSERT_EQ(job->ranks.size(), 1u);
  EXPECT_EQ(job->ranks[0].info.rank, 3);
  EXPECT_EQ(job->ranks[0].info.path, folder / "b.json");
  ASSERT_EQ(job->ignored.size(), 1u);
  EXPECT_EQ(job->ignored[0].path, folder / "a.json");
  EXPECT_EQ(job->notes.size(), 1u);
}

TEST(OpenJob, TheNumberOfACachedRankIsThatOfThisJob) {
  const ScratchFolder folder;
  ASSERT_EQ(::setenv("STEPLENS_CACHE_DIR", (folder / "cache").c_str(), 1), 0);
  WriteTrace(folder / "a.json", 3);
  WriteTrace(folder / "b.json", 3);
  const std::string a = folder / "a.json";
  const std::string b = folder / "b.json";
  const auto shown = [](const std::vector<std::string>& paths) {
    const Result<store::Job> job = OpenJob(paths, {});
    EXPECT_TRUE(job.ok()) << job.error().message;
    std::string out;
    for (const store::TraceStore& rank : job->ranks) {
      const bool repeats = rank.issues.entry(store::IssueKind::kDuplicateRank).count > 0;
      out += fmt::format("{}={}{} ", fs::path(rank.info.path).stem().string(), rank.info.rank,
                         repeats ? "!" : "");
    }
    return out;
  };
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(shown({a, b}), "b=0! a=3 ");
    EXPECT_EQ(shown({b, a}), "a=0! b=3 ");
    EXPECT_EQ(shown({b}), "b=3 ");
  }
  ::unsetenv("STEPLENS_CACHE_DIR");
}

TEST(OpenJob, ReadsOneRankAloneIfAskedTo) {
  const ScratchFolder folder;
  WriteTrace(folder / "a.json", 3);
  WriteTrace(folder / "b.json", 4);
  OpenOptions options{.use_cache = false};
  EXPECT_EQ(OpenJob({folder.path()}, options)->ranks.size(), 2u);
  options.only_rank = 4;
  const Result<store::Job> job = OpenJob({folder.path()}, options);
  ASSERT_TRUE(job.ok()) << job.error().message;
  ASSERT_EQ(job->ranks.size(), 1u);
  EXPECT_EQ(job->ranks.front().info.rank, 4);
  options.only_rank = 7;
  EXPECT_EQ(OpenJob({folder.path()}, options).error().code, ErrorCode::kNotFound);
}

// What FRAMEWORK leaves to be derived is there without the caller's doing.
TEST(OpenJob, RanksAreComplete) {
  const ScratchFolder folder;
  const fs::path output = folder / "mindstudio_profiler_output";
  fs::create_directory(output);
  std::ofstream(output / "msprof_20250109.json")
      << R"([{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "Ascend Hardware"}},)"
      << R"({"ph": "X", "name": "Iteration 9", "cat": "Iteration Time", "pid": 1, "tid": 1,)"
      << R"( "ts": 10, "dur": 5}])";
  const Result<store::Job> job = OpenJob({output.string()}, {.use_cache = false});
  ASSERT_TRUE(job.ok()) << job.error().message;
  ASSERT_EQ(job->ranks[0].steps.size(), 1u);
  EXPECT_EQ(job->ranks[0].steps.step[0], 9);
}

}  // namespace
}  // namespace steplens::opening
