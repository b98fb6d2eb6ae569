#include "readers/open.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace steplens::readers {
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

}  // namespace
}  // namespace steplens::readers
