#include <fmt/format.h>

#include <map>

#include "analysis/viewer/test_rank.h"
#include "server/api/test_api.h"

namespace steplens::server {
namespace {

using analysis::viewer::TestRank;

constexpr int64_t kStart = 1'000'000;

// An operator launches a kernel; then the device waits for the host.
//   host    |--- op a 0-100 ---|--- sync 100-400 ---|- op b 400-450 -|
//   stream      |k1 50-150|                              |k2 430-500|
store::Job HostBound() {
  TestRank rank;
  rank.Slice(rank.host, kStart, kStart + 100, "a", "cpu_op");
  rank.Slice(rank.host, kStart + 100, kStart + 400, "aclrtSynchronizeStream", "cpu_op");
  rank.Slice(rank.host, kStart + 400, kStart + 450, "b", "cpu_op");
  rank.Task("k1", "Add", kStart + 50, kStart + 150);
  rank.Task("k2", "Add", kStart + 430, kStart + 500);
  rank.Flow("async_npu", rank.host, kStart, rank.stream, kStart + 50);
  rank.Flow("async_npu", rank.host, kStart + 400, rank.stream, kStart + 430);
  return JobOf(rank);
}

// The items of an explanation by key, each as "ns track i t0 t1".
std::map<std::string, std::string> Items(const JsonDocument& answer) {
  std::map<std::string, std::string> out;
  answer.root()["items"].ForEachElement([&](JsonValue item) {
    out[std::string(*item["key"].AsString())] =
        fmt::format("{} {} {} {} {}", *item["ns"].AsInt(), *item["track"].AsInt(),
                    item["i"].AsInt().value_or(-1), *item["t0"].AsInt(), *item["t1"].AsInt());
  });
  return out;
}

TEST(PostExplain, DividesAGapAndShowsWhereToLook) {
  TestApi api(HostBound());
  const int64_t host = api.TrackOf("r0/py/thread1");
  const int64_t stream = api.TrackOf("r0/hw/stream2");
  const JsonDocument answer =
      api.Post("explain", fmt::format(R"({{"kind":"gap","t":300,"track":{}}})", stream));
  const auto items = Items(answer);
  EXPECT_EQ(items.at("gap.host_bound"), fmt::format("250 {} 4 430 500", stream));
  EXPECT_EQ(items.at("gap.launch"), fmt::format("30 {} 4 430 500", stream));
  EXPECT_EQ(items.at("gap.synchronise"), fmt::format("250 {} 1 100 400", host));
  EXPECT_EQ(answer.root()["verdict"]["key"].AsString(), "gap.host_bound");
  EXPECT_EQ(answer.root()["title"]["args"].ToText(), R"({"time":"280 ns"})");
}

TEST(PostExplain, ASliceOfTheFreeLaneIsAGapOfAllStreams) {
  TestApi api(HostBound());
  const int64_t free = api.TrackOf("r0/overlap/free");
  const JsonDocument by_slice =
      api.Post("explain", fmt::format(R"({{"kind":"slice","i":0,"track":{}}})", free));
  EXPECT_EQ(by_slice.root()["verdict"]["key"].AsString(), "gap.host_bound");
  EXPECT_EQ(by_slice.root()["title"]["args"]["time"].AsString(), "280 ns");
  const JsonDocument by_time =
      api.Post("explain", fmt::format(R"({{"kind":"gap","t":300,"track":{}}})", free));
  EXPECT_EQ(by_time.root().ToText(), by_slice.root().ToText());
}

TEST(PostExplain, SaysWhereThereIsNoGap) {
  TestApi api(HostBound());
  const auto message = [&](std::string_view path, int64_t t) {
    const Response response =
        api.Ask("POST", "/ds/d/explain",
                fmt::format(R"({{"kind":"gap","t":{},"track":{}}})", t, api.TrackOf(path)));
    EXPECT_EQ(response.status, 400);
    const Result<JsonDocument> answer = JsonDocument::Parse(response.body, "answer");
    return std::string(*answer->root()["error"]["message"].AsString());
  };
  EXPECT_EQ(message("r0/hw/stream2", 100), "a task runs at this time: there is no gap");
  EXPECT_EQ(message("r0/hw/stream2", 900), "no task runs on this lane before or after this time");
  EXPECT_EQ(message("r0/overlap/free", 100), "the device is busy at this time: there is no gap");
  EXPECT_EQ(message("r0/py/thread1", 600),
            "gaps are explained on streams, on communication groups and on the Free lane");
}

// Rank 5 comes 800 ns late. Its clock can be shown shifted; that does not change who came last.
TEST(PostExplain, AWaitLeadsToTheLaneOfTheLastRank) {
  TestRank early(0);
  TestRank late(5);
  early.Comm("hcom_allReduce__001_0_1", kStart, kStart + 1000);
  late.Task("Long", "MatMul", kStart + 100, kStart + 790);
  late.Comm("hcom_allReduce__001_0_1", kStart + 800, kStart + 1000);
  TestApi api(JobOf(late, early));  // a rank's place in the job is not its number
  const int64_t own = api.TrackOf("r0/comm/group0communication");
  const int64_t other = api.TrackOf("r5/comm/group0communication");
  const JsonDocument shifted = api.Post("align", R"({"mode":"manual","offsets":{"5":300}})");
  const JsonDocument answer =
      api.Post("explain", fmt::format(R"({{"kind":"wait","track":{},"i":0,"align":{}}})", own,
                                      *shifted.root()["align"].AsInt()));
  const auto items = Items(answer);
  EXPECT_EQ(items.at("wait.skew_of_captured"), fmt::format("800 {} 1 500 700", other));
  EXPECT_EQ(items.at("wait.transfer"), fmt::format("200 {} 0 0 1000", own));
  EXPECT_EQ(items.at("wait.last_computed"), fmt::format("690 {} 1 -300 500", other));
  EXPECT_EQ(answer.root()["verdict"]["args"]["rank"].AsString(), "5");
}

TEST(PostExplain, ASliceThatIsAloneLeadsToItself) {
  TestApi api(HostBound());
  const int64_t stream = api.TrackOf("r0/hw/stream2");
  const auto items =
      Items(api.Post("explain", fmt::format(R"({{"kind":"slice","track":{},"i":3}})", stream)));
  EXPECT_EQ(items.at("slice.alone"), fmt::format("100 {} 3 50 150", stream));
}

}  // namespace
}  // namespace steplens::server
