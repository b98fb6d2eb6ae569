#include "store/cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace steplens::store {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(directory_); }
  void TearDown() override { fs::remove_all(directory_); }

  static TraceStore MakeStore() {
    TraceStore store;
    store.info.rank = 3;
    store.info.source = store::Source::kAscendPt;
    store.info.files.push_back({"a/trace_view.json", 12, true, ""});
    store.tracks.Append({});
    SliceTable::Row slice;
    slice.track = TrackId{0};
    slice.begin_ns = 1736408883704643212;
    slice.dur_ns = 5;
    slice.name = store.strings.Intern("aten::add");
    store.slices.Append(slice);
    store.kernels.Append({.name = slice.name});
    store.kernel_metrics.emplace_back().name = "aic_mac_ratio";
    store.kernel_metrics.back().numbers.Append(0.5);
    DynamicTable& sheet = store.sheets.emplace_back();
    sheet.name = "l2_cache";
    sheet.columns.emplace_back().name = "Op Name";
    sheet.columns.back().texts.Append(store.strings.Intern("MatMul"));
    store.issues.Add(IssueKind::kEventDamaged, "byte 7", 2);
    return store;
  }
  std::string FilePath() const { return (directory_ / (key_.ToHex() + ".slc")).string(); }

  fs::path directory_ =
      fs::temp_directory_path() / ("steplens_cache_test_" + std::to_string(::getpid()));
  StoreCache cache_{directory_};
  CacheKey key_ = MakeCacheKey({{"a", "1"}});
  ThreadPool pool_{2};
};

TEST_F(Cache, GivesBackWhatWasWritten) {
  ASSERT_TRUE(cache_.Write(key_, MakeStore()).ok());
  Result<TraceStore> read = cache_.Read(key_, pool_);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->info.rank, 3);
  EXPECT_EQ(read->info.files[0].path, "a/trace_view.json");
  ASSERT_EQ(read->slices.size(), 1u);
  EXPECT_EQ(read->slices.begin_ns[0], 1736408883704643212);
  EXPECT_EQ(read->Text(read->slices.name[0]), "aten::add");
  EXPECT_EQ(read->kernel_metrics[0].numbers[0], 0.5);
  EXPECT_EQ(read->Text(read->sheets[0].columns[0].texts[0]), "MatMul");
  EXPECT_EQ(read->issues.entry(IssueKind::kEventDamaged).count, 2u);
}

TEST_F(Cache, ColumnsInWhichNothingIsKnownTakeNoRoom) {
  static constexpr size_t kRows = 100'000;
  TraceStore store;
  for (size_t i = 0; i < kRows; ++i) store.kernels.Append({.name = store.strings.Intern("MatMul")});
  ASSERT_TRUE(cache_.Write(key_, store).ok());
  EXPECT_LT(fs::file_size(FilePath()), kRows * sizeof(StringId) + 10'000);
  Result<TraceStore> read = cache_.Read(key_, pool_);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->kernels.size(), kRows);
  read->kernels.ForEachColumn([](std::string_view name, std::string_view, const auto& column) {
    EXPECT_EQ(column.size(), kRows) << name;
    EXPECT_EQ(column.is_unknown(), name != "name") << name;
  });
  EXPECT_EQ(read->kernels.begin_ns[kRows - 1], kNone);
  EXPECT_EQ(read->Text(read->kernels.name[kRows - 1]), "MatMul");
}

TEST_F(Cache, RowsThatAreTheSameAreWrittenOut) {
  static constexpr size_t kRows = 100'001;  // an odd number of rows of four bytes: padded
  TraceStore store;
  for (int i = 0; i < 10; ++i) store.tracks.Append({});
  for (size_t i = 0; i < kRows; ++i) store.counters.Append({TrackId{7}, 8, 0.5});
  store.counters.Reserve(kRows + 2);
  store.counters.Append({TrackId{9}, 10, 1.5});
  store.counters.Append({TrackId{7}, 8, 0.5});
  ASSERT_EQ(store.counters.track.same_rows(), kRows);
  ASSERT_TRUE(cache_.Write(key_, store).ok());
  const Result<TraceStore> read = cache_.Read(key_, pool_);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->counters.size(), kRows + 2);
  for (size_t i = 0; i < kRows + 2; ++i) {
    const CounterTable::Row row = read->counters.Get(i);
    ASSERT_EQ(row.track, TrackId{i == kRows ? 9u : 7u}) << i;
    ASSERT_EQ(row.ts_ns, i == kRows ? 10 : 8) << i;
    ASSERT_EQ(row.value, i == kRows ? 1.5 : 0.5) << i;
  }
}

TEST_F(Cache, LargeColumnsKeepTheirPlace) {
  TraceStore store = MakeStore();
  for (int64_t i = 0; i < 100000; ++i)
    store.counters.Append({TrackId{0}, i, static_cast<double>(i)});
  ASSERT_TRUE(cache_.Write(key_, store).ok());
  const Result<TraceStore> read = cache_.Read(key_, pool_);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->counters.size(), 100000u);
  EXPECT_EQ(read->counters.ts_ns[99999], 99999);
  EXPECT_EQ(read->counters.value[77777], 77777.0);
}

TEST_F(Cache, AnyChangedByteIsNoticed) {
  ASSERT_TRUE(cache_.Write(key_, MakeStore()).ok());
  const auto size = fs::file_size(FilePath());
  for (uintmax_t at = 0; at < size; ++at) {
    std::fstream file(FilePath(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x40));
    file.close();
    ASSERT_FALSE(cache_.Read(key_, pool_).ok()) << "byte " << at;
    std::fstream back(FilePath(), std::ios::in | std::ios::out | std::ios::binary);
    back.seekp(static_cast<std::streamoff>(at));
    back.put(static_cast<char>(byte));
  }
  EXPECT_TRUE(cache_.Read(key_, pool_).ok());
}

TEST_F(Cache, AChangeIsNoticedInEveryPartOfALargeFile) {
  TraceStore store = MakeStore();
  for (int64_t i = 0; i < 1'500'000; ++i)
    store.counters.Append({TrackId{0}, i, static_cast<double>(i)});
  ASSERT_TRUE(cache_.Write(key_, store).ok());
  const auto size = static_cast<std::streamoff>(fs::file_size(FilePath()));
  ASSERT_GT(size, 3 * (8 << 20));
  ASSERT_TRUE(cache_.Read(key_, pool_).ok());
  for (std::streamoff at = size - 1; at > 64; at -= 5'000'000) {
    std::fstream file(FilePath(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1)).flush();
    EXPECT_FALSE(cache_.Read(key_, pool_).ok()) << "byte " << at;
    file.seekp(at);
    file.put(static_cast<char>(byte));
  }
}

TEST_F(Cache, ASourceThatNobodyKnowsIsRefused) {
  ASSERT_TRUE(cache_.Write(key_, MakeStore()).ok());
  std::ifstream in(FilePath(), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  bytes.replace(bytes.find("ascend_pt"), 9, "ascend_xy");
  // As a later version would have written it: the checksum fits.
  constexpr size_t kChecksumAt = 40, kFieldsAt = 48;
  const uint64_t block = XXH3_64bits(bytes.data() + kFieldsAt, bytes.size() - kFieldsAt);
  const uint64_t checksum = XXH3_64bits(&block, sizeof block);
  std::memcpy(bytes.data() + kChecksumAt, &checksum, sizeof checksum);
  std::ofstream(FilePath(), std::ios::binary) << bytes;
  EXPECT_FALSE(cache_.Read(key_, pool_).ok());
}

TEST_F(Cache, ATruncatedFileIsRefused) {
  ASSERT_TRUE(cache_.Write(key_, MakeStore()).ok());
  for (auto size = fs::file_size(FilePath()); size > 0;) {
    fs::resize_file(FilePath(), --size);
    ASSERT_FALSE(cache_.Read(key_, pool_).ok());
  }
}

TEST_F(Cache, AnotherStampGivesAnotherKey) {
  EXPECT_FALSE(MakeCacheKey({{"a", "1"}}) == MakeCacheKey({{"a", "2"}}));
  EXPECT_FALSE(MakeCacheKey({{"a", "1"}}) == MakeCacheKey({{"b", "1"}}));
  EXPECT_FALSE(cache_.Read(key_, pool_).ok());
}

TEST_F(Cache, TwoWritersLeaveOneWholeFile) {
  const auto write = [&] {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(cache_.Write(key_, MakeStore()).ok());
  };
  std::thread other(write);
  write();
  other.join();
  EXPECT_TRUE(cache_.Read(key_, pool_).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1);
}

TEST_F(Cache, OldEntriesMakeRoom) {
  ASSERT_TRUE(cache_.Write(key_, MakeStore()).ok());
  const CacheKey newer = MakeCacheKey({{"b", "1"}});
  StoreCache small(directory_, fs::file_size(FilePath()) + 10);
  ASSERT_TRUE(small.Write(newer, MakeStore()).ok());
  EXPECT_FALSE(small.Read(key_, pool_).ok());
  EXPECT_TRUE(small.Read(newer, pool_).ok());
}

CacheKey NumberedKey(int number) { return MakeCacheKey({{std::to_string(number), "1"}}); }

TEST_F(Cache, ARunLooksAtTheEntriesOnceHoweverManyItAdds) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(cache_.Write(NumberedKey(i), MakeStore()).ok());
  StoreCache next_run(directory_);
  for (int i = 10; i < 110; ++i) ASSERT_TRUE(next_run.Write(NumberedKey(i), MakeStore()).ok());
  EXPECT_EQ(next_run.limit().files_looked_at(), 11u);  // when the first was added
}

TEST_F(Cache, ARunBeyondTheLimitMakesRoomForSeveralAtOnce) {
  ASSERT_TRUE(cache_.Write(key_, MakeStore()).ok());
  StoreCache small(directory_, 16 * fs::file_size(FilePath()));
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(small.Write(NumberedKey(i), MakeStore()).ok());
    ASSERT_LE(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 16);
    ASSERT_TRUE(small.Read(NumberedKey(i), pool_).ok()) << i;
  }
  // 17 of them when the 16th, 19th, ... 64th makes one too many; 2 when the first was added.
  EXPECT_EQ(small.limit().files_looked_at(), 2 + 17 * 17u);
}

TEST_F(Cache, AnUnwritableDirectoryIsAnErrorNotACrash) {
  EXPECT_FALSE(StoreCache("/proc/steplens-cannot-be-here").Write(key_, MakeStore()).ok());
}

// A file with a checksum that fits and ids that do not: nobody asks again whether they lead
// anywhere.
TEST_F(Cache, IdsThatLeadNowhereAreRefused) {
  TraceStore store = MakeStore();
  store.slices.name.Set(0, StringId{99});
  ASSERT_TRUE(cache_.Write(key_, store).ok());
  const Result<TraceStore> read = cache_.Read(key_, pool_);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kCorruptData);
  EXPECT_NE(read.error().message.find("slices.name leads nowhere"), std::string::npos);
}

TEST_F(Cache, FilesAreForTheirUserAlone) {
  ASSERT_TRUE(cache_.Write(key_, MakeStore()).ok());
  EXPECT_EQ(fs::status(FilePath()).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(directory_).permissions(), fs::perms(0700));
}

}  // namespace
}  // namespace steplens::store
