#include <fmt/format.h>

#include "analysis/viewer/test_rank.h"
#include "server/api/test_api.h"

namespace steplens::server {
namespace {

using analysis::viewer::TestRank;

constexpr int64_t kStart = 1'000'000;

// Rank 1 takes twice as long for the same kernels.
store::Job TwoRanks() {
  TestRank ranks[] = {TestRank(0), TestRank(1)};
  for (TestRank& rank : ranks) {
    const int64_t factor = rank.store.info.rank + 1;
    rank.Task("matmul_0", "MatMul", kStart, kStart + 100 * factor);
    rank.Task("matmul_0", "MatMul", kStart + 300, kStart + 300 + 100 * factor);
    rank.Step(1, kStart, kStart + 1000);
  }
  return JobOf(ranks[0], ranks[1]);
}

Response Get(TestApi& api, std::string path,
             std::map<std::string, std::string, std::less<>> query) {
  return api.Send({.method = "GET",
                   .path = std::move(path),
                   .query = std::move(query),
                   .body = "",
                   .is_gone = {}});
}

std::vector<std::string> Row(JsonValue table, size_t wanted) {
  std::vector<std::string> cells;
  size_t at = 0;
  table["rows"].ForEachElement([&](JsonValue row) {
    if (at++ != wanted) return;
    row.ForEachElement([&](JsonValue cell) { cells.push_back(cell.ToText()); });
  });
  return cells;
}

TEST(PostCompare, PutsTwoRanksSideBySide) {
  TestApi api(TwoRanks());
  const JsonDocument answer =
      api.Post("compare", R"({"a":{"rank":0},"b":{"rank":1},"key":"MatMul"})");
  const JsonValue tables = answer.root()["tables"];
  const std::vector<std::string> op = Row(tables["operators"], 0);
  ASSERT_GE(op.size(), 9u);
  EXPECT_EQ(op[0], "MatMul");
  EXPECT_EQ(op[2], "slower");
  EXPECT_EQ(op[6], "2");
  const std::vector<std::string> matched = Row(tables["matched"], 1);
  ASSERT_EQ(matched.size(), 7u);
  EXPECT_EQ(fmt::format("{} {} {} {}", matched[2], matched[3], matched[4], matched[5]),
            "300 100 300 200");
  int64_t counted = 0;
  tables["histogram"]["rows"].ForEachElement([&](JsonValue row) {
    size_t column = 0;
    row.ForEachElement([&](JsonValue cell) {
      if (column++ >= 2) counted += *cell.AsInt();
    });
  });
  EXPECT_EQ(counted, 4) << "two kernels on each side";
}

TEST(PostCompare, SaysWhichSideIsWrong) {
  TestApi api(TwoRanks());
  EXPECT_EQ(api.Ask("POST", "/ds/d/compare", R"({"a":{"rank":0}})").status, 400);
  EXPECT_EQ(api.Ask("POST", "/ds/d/compare", R"({"a":{"rank":1e99},"b":{}})").status, 400);
  EXPECT_EQ(api.Ask("POST", "/ds/d/compare", R"({"a":{},"b":{"step":"x"}})").status, 400);
  EXPECT_EQ(api.Ask("POST", "/ds/d/compare", R"({"a":{"rank":0},"b":{"rank":7}})").status, 404);
  EXPECT_EQ(api.Ask("POST", "/ds/d/compare", R"({"a":{},"b":{"ds":"nowhere"}})").status, 404);
  EXPECT_EQ(api.Ask("POST", "/ds/d/compare", R"({"a":{},"b":{},"group_by":"colour"})").status, 400);
}

TEST(PostExplain, ShowsTheSlicesBehindANumber) {
  TestApi api(TwoRanks());
  const JsonDocument answer = api.Post("explain", R"json(
      {"kind":"number","name":"operator_groups","column":"Total Time(us)",
       "args":{"rank":1,"group_by":"Computing Operator Type"},
       "row":{"Type":"MatMul","Accelerator Core":"AI_CORE","Total Time(us)":0.4}})json");
  EXPECT_EQ(answer.root()["title"]["text"].AsString(), "Total Time(us) of MatMul: 0.4");
  EXPECT_EQ(answer.root()["definition"].AsString(), "insight.operator_groups");
  size_t items = 0;
  answer.root()["items"].ForEachElement([&](JsonValue item) {
    EXPECT_EQ(item["ns"].AsInt(), 200);
    EXPECT_EQ(item["t0"].AsInt(), items == 0 ? 0 : 300);
    ++items;
  });
  EXPECT_EQ(items, 2u);
  EXPECT_EQ(api.Ask("POST", "/ds/d/explain", R"({"kind":"number","name":"colour"})").status, 404);
}

TEST(GetTile, IsTheTileOfABatchAndMayBeKept) {
  TestApi api(TwoRanks());
  const std::string track = std::to_string(api.TrackOf("r0/hw/stream2"));
  const Response batch = api.Ask("POST", "/tiles", R"({"ds":"d","keys":[[)" + track + ",0,0]]}");
  const Response bare = Get(api, "/ds/d/tile", {{"track", track}, {"level", "0"}, {"index", "0"}});
  EXPECT_EQ(bare.body, batch.body);
  EXPECT_TRUE(bare.headers.empty()) << "an address that another run may use for another tile";
  const JsonDocument meta = TestApi::Json(api.Ask("GET", "/ds/d"));
  const std::string set(*meta.root()["tile_set"].AsString());
  const Response kept =
      Get(api, "/ds/d/tile", {{"track", track}, {"level", "0"}, {"index", "0"}, {"set", set}});
  ASSERT_EQ(kept.headers.size(), 1u);
  EXPECT_EQ(kept.headers[0].first, "Cache-Control");
  EXPECT_EQ(
      Get(api, "/ds/d/tile", {{"track", track}, {"level", "0"}, {"index", "0"}, {"set", "old"}})
          .status,
      404);
  EXPECT_EQ(Get(api, "/ds/d/tile", {{"track", "99"}, {"level", "0"}, {"index", "0"}}).status, 400);
  EXPECT_EQ(Get(api, "/ds/d/tile", {{"track", track}, {"level", "99"}, {"index", "0"}}).status,
            400);
  EXPECT_EQ(Get(api, "/ds/d/tile", {{"track", track}}).status, 400);
}

TEST(PostSearch, TakesAFilterAsJson) {
  TestApi api(TwoRanks());
  const auto count = [&](const char* body) {
    return *api.Post("search", body).root()["count"].AsInt();
  };
  EXPECT_EQ(count(R"({"filter":{"and":[{"field":"name","op":"=","value":"matmul_0"},
                                       {"field":"rank","op":"=","value":1}]}})"),
            2);
  EXPECT_EQ(count(R"({"filter":{"and":[{"field":"lane","op":"~","value":"Stream"},
                                       {"field":"dur","op":">","value":150}]}})"),
            2);
  EXPECT_EQ(api.Ask("POST", "/ds/d/search", R"({"filter":{"field":"x"}})").status, 400);
  EXPECT_EQ(api.Ask("POST", "/ds/d/search", R"({})").status, 400);
}

}  // namespace
}  // namespace steplens::server
