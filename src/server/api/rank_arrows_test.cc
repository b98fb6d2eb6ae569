#include <fmt/format.h>

#include "analysis/viewer/test_rank.h"
#include "server/api/test_api.h"

namespace steplens::server {
namespace {

using analysis::viewer::TestRank;

// Rank 1 comes last to the all-reduce: rank 0 is in it from 0 to 100, rank 1 from 60 to 100.
//   rank 0 |a 0-100: waits until 60|   |k 200-210|
//   rank 1             |a 60-100|      |k 200-210|
store::Job TwoRanks() {
  TestRank first(0);
  TestRank second(1);
  constexpr int64_t kBegin = 1'000'000;
  first.Comm("hcom_allReduce__001_0_1", kBegin, kBegin + 100);
  second.Slice(second.host, kBegin, kBegin + 10, "start", "cpu_op");
  second.Comm("hcom_allReduce__001_0_1", kBegin + 60, kBegin + 100);
  first.Task("k", "MatMul", kBegin + 200, kBegin + 210);
  second.Task("k", "MatMul", kBegin + 200, kBegin + 210);
  second.Task("k", "MatMul", kBegin + 300, kBegin + 310);
  return JobOf(first, second);
}

class RankArrowsTest : public testing::Test {
 protected:
  RankArrowsTest() : api_(TwoRanks()) {}
  JsonDocument Peers(int64_t track, int64_t i) {
    return TestApi::Json(
        api_.Send({.method = "GET",
                   .path = "/ds/d/peers",
                   .query = {{"track", std::to_string(track)}, {"i", std::to_string(i)}},
                   .body = "",
                   .is_gone = {}}));
  }
  TestApi api_;
};

TEST_F(RankArrowsTest, LeadFromTheLastToArriveToWhereOthersStopWaiting) {
  const int64_t first = api_.TrackOf("r0/comm/group0communication");
  const int64_t second = api_.TrackOf("r1/comm/group0communication");
  const JsonDocument off = api_.Post("flows", R"({"t0":0,"t1":1000})");
  EXPECT_EQ(off.root()["cats"].ToText(), R"([{"name":"collective","count":1,"off":true}])");
  EXPECT_EQ(off.root()["flows"].ToText(), "[]") << "only if asked for by name";
  const JsonDocument on = api_.Post("flows", R"({"t0":0,"t1":1000,"cats":["collective"]})");
  EXPECT_EQ(on.root()["flows"].ToText(), fmt::format("[[{},0,60,{},0,60,1,0]]", second, first));
  const JsonDocument later = api_.Post("flows", R"({"t0":150,"t1":1000,"cats":["collective"]})");
  EXPECT_EQ(later.root()["flows"].ToText(), "[]");
}

TEST_F(RankArrowsTest, PeersAreTheMembersOfACall) {
  const int64_t first = api_.TrackOf("r0/comm/group0communication");
  const JsonDocument peers = Peers(first, 0);
  EXPECT_EQ(peers.root()["by"].AsString(), "call");
  std::vector<std::string> found;
  peers.root()["slices"].ForEachElement([&](JsonValue one) {
    found.push_back(fmt::format("{} {} {}", *one["rank"].AsInt(), *one["begin"].AsInt(),
                                one["is_last"].ToText()));
  });
  EXPECT_EQ(found, (std::vector<std::string>{"0 0 false", "1 60 true"}));
}

TEST_F(RankArrowsTest, PeersOfOtherSlicesAreThoseOfTheSameNumber) {
  const int64_t second = api_.TrackOf("r1/hw/stream2");
  const JsonDocument peers = Peers(second, 3);  // the second k of rank 1
  EXPECT_EQ(peers.root()["by"].AsString(), "ordinal");
  EXPECT_EQ(peers.root()["missing"].ToText(),
            R"([{"rank":0,"why":"has 1 of this name, needs 2"}])");
  int64_t count = 0;
  peers.root()["slices"].ForEachElement([&](JsonValue) { ++count; });
  EXPECT_EQ(count, 1);
}

TEST(Peers, ThreadsWithNumbersOfTheirOwnAreFoundByTheirPlace) {
  TestRank first(0);
  TestRank second(1);
  const auto add = [](TestRank& rank, const char* thread, int64_t begin_ns) {
    const store::TrackId track = rank.Thread(rank.Process("Worker"), thread);
    rank.Slice(track, begin_ns, begin_ns + 10, "step", "cpu_op");
  };
  add(first, "Thread 11", 1000);
  add(second, "Thread 99", 1005);
  TestApi api(JobOf(first, second));
  const int64_t track = api.TrackOf("r0/worker/thread11");
  const JsonDocument peers =
      TestApi::Json(api.Send({.method = "GET",
                              .path = "/ds/d/peers",
                              .query = {{"track", std::to_string(track)}, {"i", "0"}},
                              .body = "",
                              .is_gone = {}}));
  EXPECT_EQ(peers.root()["missing"].ToText(), "[]");
  std::vector<int64_t> begins;
  peers.root()["slices"].ForEachElement(
      [&](JsonValue one) { begins.push_back(*one["begin"].AsInt()); });
  EXPECT_EQ(begins, (std::vector<int64_t>{0, 5}));
}

}  // namespace
}  // namespace steplens::server
