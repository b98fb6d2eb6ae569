#include <fmt/format.h>

#include "analysis/viewer/test_rank.h"
#include "server/api/test_api.h"

namespace steplens::server {
namespace {

using analysis::viewer::TestRank;

constexpr int64_t kDay = 86'400'000'000'000;

// Rank 1 was recorded a day later: both begin at 0 as shown, and then its collective seems to start
// 400 ns after rank 0 has left it.
store::Job TwoDays() {
  TestRank first(0);
  TestRank second(1);
  first.Comm("hcom_allReduce__001_0_1", 5, 105);
  second.Slice(second.host, kDay, kDay + 10, "begin", "cpu_op");
  second.Comm("hcom_allReduce__001_0_1", kDay + 500, kDay + 600);
  return JobOf(first, second);
}

TEST(PostAlign, MovesByCollectivesFromWhatIsShown) {
  TestApi api(TwoDays());
  // What was there before does not matter.
  const JsonDocument by_hand = api.Post("align", R"({"mode":"manual","offsets":{"1":77}})");
  const JsonDocument answer = api.Post(
      "align", fmt::format(R"({{"mode":"auto","align":{}}})", *by_hand.root()["align"].AsInt()));
  EXPECT_EQ(answer.root()["offsets"].ToText(), fmt::format(R"({{"0":0,"1":{}}})", kDay - 5 + 400));
  EXPECT_EQ(answer.root()["residual_ns"].ToText(), R"({"0":100,"1":100})");  // 400 to 600 would do
  EXPECT_EQ(answer.root()["failed"].ToText(), "{}");
}

TEST(PostAlign, CollectivesMeetBySlice) {
  TestApi api(TwoDays());
  const JsonDocument answer =
      api.Post("align", fmt::format(R"({{"mode":"op","side":"right","i":0,"track":{}}})",
                                    api.TrackOf("r0/comm/group0communication")));
  EXPECT_EQ(answer.root()["offsets"].ToText(), fmt::format(R"({{"0":0,"1":{}}})", kDay + 495));
}

TEST(PostAlign, RanksThatFailStayWhereTheyAre) {
  TestApi api(TwoDays());
  const JsonDocument by_hand = api.Post("align", R"({"mode":"manual","offsets":{"0":77}})");
  const JsonDocument answer = api.Post(
      "align", fmt::format(R"({{"mode":"op","i":0,"align":{},"track":{}}})",
                           *by_hand.root()["align"].AsInt(), api.TrackOf("r1/py/thread1")));
  EXPECT_EQ(answer.root()["offsets"]["0"].AsInt(), 77);
  EXPECT_EQ(answer.root()["failed"].ToText(), R"({"0":"Slice not found"})");
}

TEST(PostAlign, RefusesLanesThatMeanNothing) {
  TestApi api(TwoDays());
  const Response response = api.Ask(
      "POST", "/ds/d/align",
      fmt::format(R"({{"mode":"op","i":0,"track":{}}})", api.TrackOf("r0/overlap/communication")));
  EXPECT_EQ(response.status, 400);
}

}  // namespace
}  // namespace steplens::server
