#include "readers/slice_args.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "readers/open.h"
#include "store/trace_store.h"

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;

// A folder that is gone at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path operator/(const char* name) const { return fs::path(path_) / name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/steplens_args_XXXXXX";
};

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
  OpenOptions options;
  options.use_cache = false;
  Result<store::Job> job = OpenJob({path}, options);
  EXPECT_TRUE(job.ok()) << job.error().message;
  return std::move(*job);
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
  const TemporaryFolder folder;
  const fs::path output = folder / "mindstudio_profiler_output";
  fs::create_directory(output);
  std::ofstream(output / "msprof_slice_0_20250109.json") << TraceOf(0, 50);
  std::ofstream(output / "msprof_slice_1_20250109.json") << TraceOf(50, 70);
  const store::Job job = Open(output.string());
  ASSERT_EQ(job.ranks.size(), 1u);
  ExpectArgsOfEachSlice(job.ranks[0], 120);
}

TEST(SliceArgsReader, CompressedTracesHaveTheirArgs) {
  const TemporaryFolder folder;
  const std::string path = (folder / "trace.json.gz").string();
  const std::string text = TraceOf(0, 3000);
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(file);
  const store::Job job = Open(path);
  ASSERT_EQ(job.ranks.size(), 1u);
  ExpectArgsOfEachSlice(job.ranks[0], 3000);
}

TEST(SliceArgsReader, ATraceThatIsGoneIsAnErrorAndASliceWithoutArgsHasNone) {
  const TemporaryFolder folder;
  const std::string path = (folder / "trace.json").string();
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
