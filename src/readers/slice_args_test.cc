#include "readers/slice_args.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/gzip_text.h"
#include "base/testing/scratch_folder.h"
#include "readers/read_rank.h"
#include "store/trace_store.h"

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;

// Slices named n<first> and on, whose args say the same.
std::string TraceOf(int first, int count) {
  std::string text = "[";
  for (int i = first; i < first + count; ++i) {
    const std::string n = std::to_string(i);
    if (i > first) text += ",\n";
    text += R"({"name": "n)" + n + R"(", "pid": 1, "tid": 2, "ts": ")" + n +
            R"(.000", "dur": 1, "args": {"n": )" + n + R"(}, "ph": "X"})";
  }
  return text + "]";
}

store::Job Open(const std::string& path) {
  ThreadPool pool(2);
  ReadOptions options;
  options.pool = &pool;
  const Result<Detected> detected = DetectRanks({path});
  EXPECT_TRUE(detected.ok()) << detected.error().message;
  store::Job job;
  for (const RankSource& source : detected->ranks) {
    Result<RankRead> rank = ReadRank(source, options);
    EXPECT_TRUE(rank.ok()) << rank.error().message;
    job.ranks.push_back(std::move(rank->store));
  }
  return job;
}

void ExpectArgsOfEachSlice(const store::TraceStore& rank, size_t count) {
  ASSERT_EQ(rank.slices.size(), count);
  SliceArgsReader reader;
  for (size_t step : {1u, 7u}) {  // in order, and back and forth
    for (size_t i = 0; i < count; ++i) {
      const size_t row = i * step % count;
      const auto args = reader.Read(rank, store::SliceId{static_cast<uint32_t>(row)});
      ASSERT_TRUE(args.ok()) << args.error().message;
      const std::string_view name = rank.Text(rank.slices.name[row]);
      ASSERT_EQ(*args, fmt::format("{{\"n\": {}}}", name.substr(1)));
    }
  }
}

TEST(SliceArgsReader, EachTraceOfARankHasItsArgs) {
  const ScratchFolder folder;
  const fs::path output = folder / "mindstudio_profiler_output";
  fs::create_directory(output);
  std::ofstream(output / "msprof_slice_0_20250109.json") << TraceOf(0, 50);
  std::ofstream(output / "msprof_slice_1_20250109.json") << TraceOf(50, 70);
  const store::Job job = Open(output.string());
  ASSERT_EQ(job.ranks.size(), 1u);
  ExpectArgsOfEachSlice(job.ranks[0], 120);
}

TEST(SliceArgsReader, CompressedTracesHaveTheirArgs) {
  const ScratchFolder folder;
  const std::string path = folder.Write("trace.json.gz", Gzip(TraceOf(0, 3000)));
  const store::Job job = Open(path);
  ASSERT_EQ(job.ranks.size(), 1u);
  ExpectArgsOfEachSlice(job.ranks[0], 3000);
}

TEST(SliceArgsReader, ATraceThatIsGoneIsAnErrorAndASliceWithoutArgsHasNone) {
  const ScratchFolder folder;
  const std::string path = folder / "trace.json";
  std::ofstream(path) << R"([{"name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 1, "ph": "X"}, )"
                      << TraceOf(0, 1).substr(1);
  const store::Job job = Open(path);
  fs::remove(path);
  SliceArgsReader reader;
  EXPECT_EQ(*reader.Read(job.ranks[0], store::SliceId{0}), "");
  EXPECT_FALSE(reader.Read(job.ranks[0], store::SliceId{1}).ok());
}

}  // namespace
}  // namespace steplens::readers
