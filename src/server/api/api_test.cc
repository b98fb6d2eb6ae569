#include "server/api/api.h"

#include <fmt/format.h>

#include "analysis/testing/store_builder.h"
#include "base/file.h"
#include "server/api/test_api.h"

namespace steplens::server {
namespace {

// One rank: an operator launches a kernel; then the device waits for the host.
//   host    |--- op a 0-100 ---|--- sync 100-400 ---|- op b 400-450 -|
//   stream      |k1 50-150|                              |k2 430-500|
class ApiTest : public testing::Test {
 protected:
  ApiTest() : api_(Recorded()) {}

  static store::Job Recorded() {
    analysis::StoreBuilder builder;
    const auto host = builder.ThreadOf("Python", "Thread 1");
    const auto stream = builder.ThreadOf("Ascend Hardware", "Stream 2");
    const int64_t t = 1'000'000;
    builder.Slice(host, t, t + 100, "a", "cpu_op");
    builder.Slice(host, t + 10, t + 40, "inner", "cpu_op");
    builder.Slice(host, t + 100, t + 400, "aclrtSynchronizeStream", "cpu_op");
    builder.Slice(host, t + 400, t + 450, "b", "cpu_op");
    builder.Slice(stream, t + 50, t + 150, "k1", "AI_CORE");
    builder.Slice(stream, t + 430, t + 500, "k2", "AI_CORE");
    builder.Flow("async_npu", host, t, stream, t + 50);
    builder.Flow("async_npu", host, t + 400, stream, t + 430);
    return builder.Job();
  }

  TestApi api_;
};

TEST_F(ApiTest, RangeCountsFullDurationsAndSelfTime) {
  const std::string track = std::to_string(api_.TrackOf("r0/py/thread1"));
  const JsonDocument answer = TestApi::Json(
      api_.Ask("POST", "/ds/d/range", R"({"t0":0,"t1":50,"tracks":[)" + track + "]}"));
  std::vector<std::string> rows;
  answer.root()["rows"].ForEachElement([&](JsonValue row) { rows.push_back(row.ToText()); });
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].substr(0, 14), R"(["a",1,100,70,)");
  EXPECT_EQ(answer.root()["total"]["covered"].AsInt(), 50);
}

TEST_F(ApiTest, ArrowsLeadThereAndBack) {
  const std::string track = std::to_string(api_.TrackOf("r0/hw/stream2"));
  const JsonDocument flows =
      TestApi::Json(api_.Ask("POST", "/ds/d/flows", R"({"t0":0,"t1":600,"cats":["async_npu"]})"));
  EXPECT_EQ(flows.root()["cats"].ToText(), R"([{"name":"async_npu","count":2,"off":false}])");
  Request request{.method = "GET", .path = "/ds/d/slice", .query = {}, .body = "", .is_gone = {}};
  request.query = {{"track", track}, {"i", "5"}};
  const JsonDocument slice = TestApi::Json(api_.Send(request));
  std::vector<std::string> from;
  slice.root()["flows_in"].ForEachElement(
      [&](JsonValue flow) { from.emplace_back(*flow["name"].AsString()); });
  EXPECT_EQ(from, std::vector<std::string>{"b"});
}

TEST(GetSlice, ShowsTheKernelOfItsOwnSliceOnly) {
  analysis::StoreBuilder builder;
  const auto host = builder.ThreadOf("Python", "Thread 1");
  const auto stream = builder.ThreadOf("Ascend Hardware", "Stream 2");
  builder.Slice(host, 1000, 1100, "aten::add", "cpu_op");  // starts and lasts as the kernel does
  builder.Slice(stream, 1000, 1100, "Add", "AI_CORE");
  builder.Kernel("Add", "Add", "AI_CORE", 1000, 1100);
  TestApi api(builder.Job());
  const auto kernel_of = [&](std::string_view lane, std::string slice) {
    Request request{.method = "GET", .path = "/ds/d/slice", .query = {}, .body = "", .is_gone = {}};
    request.query = {{"track", std::to_string(api.TrackOf(lane))}, {"i", std::move(slice)}};
    return TestApi::Json(api.Send(request)).root()["kernel"]["type"].ToText();
  };
  EXPECT_EQ(kernel_of("r0/hw/stream2", "1"), "Add");
  EXPECT_EQ(kernel_of("r0/py/thread1", "0"), "");
}

TEST_F(ApiTest, RefusesWhatIsNotThere) {
  EXPECT_EQ(api_.Ask("GET", "/ds/e").status, 404);
  EXPECT_EQ(api_.Ask("GET", "/nothing").status, 404);
  EXPECT_EQ(api_.Ask("POST", "/ds/d/range", "{").status, 400);
  EXPECT_EQ(api_.Ask("POST", "/ds/d/range", R"({"tracks":[99],"t0":0,"t1":1})").status, 400);
  EXPECT_EQ(api_.Ask("POST", "/ds/d/metric", R"({"name":"no such metric"})").status, 404);
  EXPECT_EQ(api_.Ask("POST", "/open", R"({"path":"/etc"})").status, 404);
}

TEST_F(ApiTest, EventsAreMeasuredWithoutAGroup) {
  // The table has the columns count and sum(dur_ns) only: nothing to sort by the start.
  const JsonDocument answer =
      api_.Post("table", R"({"source":"events","args":{"tracks":[)" +
                             std::to_string(api_.TrackOf("r0/hw/stream2")) +
                             R"(]},"measures":[{"col":"dur_ns","fn":"sum"}]})");
  EXPECT_EQ(answer.root()["rows"].ToText(), "[[2,170]]");
  EXPECT_EQ(api_.Ask("POST", "/ds/d/table",
                     R"({"source":"events","measures":[{"col":"dur_ns","fn":"sum"}],
                         "sort":[{"col":"start_ns"}]})")
                .status,
            400);
}

TEST_F(ApiTest, TilesCanSayHowLongASliceIsAmongItsLike) {
  const std::string keys =
      R"({"ds":"d","keys":[[)" + std::to_string(api_.TrackOf("r0/hw/stream2")) + R"(,0,0]])";
  const std::string plain = api_.Ask("POST", "/tiles", keys + "}").body;
  const Response shaded = api_.Ask("POST", "/tiles", keys + R"(,"shade":"percentile"})");
  EXPECT_EQ(shaded.body.size(), plain.size() + 4);
  EXPECT_EQ(shaded.body[10], 1);
  // Asked for again they come from the cache, each as it was asked for.
  EXPECT_EQ(api_.Ask("POST", "/tiles", keys + "}").body, plain);
  EXPECT_EQ(api_.Ask("POST", "/tiles", keys + R"(,"shade":"percentile"})").body, shaded.body);
  EXPECT_EQ(api_.Ask("POST", "/tiles", keys + R"(,"shade":"rainbow"})").status, 400);
}

TEST_F(ApiTest, TilesCanBeColouredByRules) {
  const std::string keys = R"({"ds":"d","shade":"rules","keys":[[)" +
                           std::to_string(api_.TrackOf("r0/hw/stream2")) + R"(,0,0]],"rules":)";
  const auto shades = [&](const std::string& rules) {
    const Response response = api_.Ask("POST", "/tiles", keys + rules + "}");
    EXPECT_EQ(response.status, 200) << response.body;
    // The shades of the two runs come last, padded to four bytes.
    return std::vector<int>(response.body.end() - 4, response.body.end() - 2);
  };
  EXPECT_EQ(shades(R"(["dur>80ns"])"), (std::vector<int>{1, 0}));
  // The first that holds counts.
  EXPECT_EQ(shades(R"(["name=k2","dur>1ns"])"), (std::vector<int>{2, 1}));
  EXPECT_EQ(shades(R"(["dur>80ns"])"), (std::vector<int>{1, 0}));
  EXPECT_EQ(api_.Ask("POST", "/tiles", keys + R"(["dur>soon"]})").status, 400);
}

TEST(Api, RulesMayBeAbsentButNotTooMany) {
  analysis::StoreBuilder builder;
  builder.Slice(builder.ThreadOf("python", "main"), 0, 10, "a", "cpu_op");
  TestApi api(builder.Job());
  const std::string keys = R"({"ds":"d","shade":"rules","keys":[])";
  EXPECT_EQ(api.Ask("POST", "/tiles", keys + "}").status, 200);
  std::string rules = "\"a\"";
  for (int i = 0; i < 32; ++i) rules += ",\"a\"";
  EXPECT_EQ(api.Ask("POST", "/tiles", keys + ",\"rules\":[" + rules + "]}").status, 400);
}

TEST(Api, FilesOfThePageStayInTheirFolder) {
  analysis::StoreBuilder builder;
  TestApi api(builder.Job());
  const auto upload = [&](std::string name, int at, std::string data) {
    return api.Ask("POST", "/upload",
                   fmt::format(R"({{"name":"{}","at":{},"data":"{}"}})", name, at, data));
  };
  for (const char* name :
       {"../x", "/etc/x", "a/../../x", ".hidden", "a/.b", "a//b", "a/", "", "a\\u0000b"})
    EXPECT_EQ(upload(name, 0, "eA==").status, 400) << name;
  EXPECT_EQ(upload("a.json", 0, "no base64").status, 400);
  EXPECT_EQ(upload("a.json", 5, "eA==").status, 400);
  const JsonDocument first = TestApi::Json(upload("job/a.json", 0, "W3sicGgiOiJYIiw="));
  TestApi::Json(upload("job/a.json", 11, "Im5hbWUiOiJhIn1d"));
  const std::string path(*first.root()["path"].AsString());
  const Result<std::string> text = ReadFile(path);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, R"([{"ph":"X","name":"a"}])");
  EXPECT_EQ(api.Ask("POST", "/open", fmt::format(R"({{"path":"{}"}})", path)).status, 200);
}

TEST(Api, AReinforcementLearningLoopIsKnownByItsTasks) {
  const auto is_available = [](std::string name) {
    analysis::StoreBuilder builder;
    builder.Slice(builder.ThreadOf("python", "main"), 0, 10, std::move(name), "user_annotation");
    TestApi api(builder.Job());
    return TestApi::Json(api.Ask("GET", "/ds/d")).root()["views"]["rl"]["available"].AsBool();
  };
  EXPECT_EQ(is_available("aten::mm"), false);
  EXPECT_EQ(is_available("update_actor"), true);
}

TEST(Api, WhatIsMissingIsAskedForInTheWordsOfTheFramework) {
  const auto flag_for = [](store::Source source) {
    analysis::StoreBuilder builder;
    builder.store.info.source = source;
    builder.Slice(builder.ThreadOf("python", "main"), 0, 10, "aten::mm", "cpu_op");
    TestApi api(builder.Job());
    const JsonDocument meta = TestApi::Json(api.Ask("GET", "/ds/d"));
    return meta.root()["views"]["communication"]["missing"].ToText();
  };
  EXPECT_NE(flag_for(store::Source::kKineto).find("torch.distributed"), std::string::npos);
  EXPECT_NE(flag_for(store::Source::kAscendPt).find("profiler_level=Level1"), std::string::npos);
}

TEST(Api, APipelineNeedsPassesAndStagesThatSendToEachOther) {
  const auto is_available = [](bool has_arrows, const char* collective) {
    analysis::StoreBuilder builder;
    const store::TrackId host = builder.ThreadOf("python", "main");
    builder.Slice(host, 0, 10, "aten::mm", "cpu_op");
    builder.Slice(host, 20, 30, "MmBackward0", "cpu_op");
    if (has_arrows) builder.Flow("fwdbwd", host, 0, host, 20);
    builder.CommOp(collective, 30, 40);
    TestApi api(builder.Job());
    const JsonDocument meta = TestApi::Json(api.Ask("GET", "/ds/d"));
    return meta.root()["views"]["pipeline"]["available"].AsBool();
  };
  EXPECT_EQ(is_available(true, "hcom_send__1_0"), true);
  EXPECT_EQ(is_available(false, "hcom_send__1_0"), false);
  // A data parallel job has both passes as well.
  EXPECT_EQ(is_available(true, "hcom_allReduce__1_0"), false);
}

TEST(Api, ARankWithoutTimelineHasTheStepsOfItsResults) {
  analysis::StoreBuilder builder;
  for (const int64_t step : {11, 10}) {
    store::StepTraceTable::Row row;
    row.step = step;
    row.computing_us = 5;
    builder.store.step_traces.Append(row);
  }
  TestApi api(builder.Job());
  const JsonDocument meta = TestApi::Json(api.Ask("GET", "/ds/d"));
  std::vector<int64_t> steps;
  meta.root()["ranks"].ForEachElement([&](JsonValue rank) {
    rank["steps"].ForEachElement([&](JsonValue step) { steps.push_back(*step["step"].AsInt()); });
  });
  EXPECT_EQ(steps, (std::vector<int64_t>{10, 11}));
  EXPECT_EQ(meta.root()["views"]["overview"]["available"].AsBool(), true);
  EXPECT_EQ(meta.root()["views"]["timeline"]["available"].AsBool(), false);
}

TEST(Api, AMetricIsGivenUpWhenItsClientWentAway) {
  analysis::StoreBuilder builder;
  for (int64_t i = 0; i < 400'000; ++i)
    builder.Kernel("k", "MatMul", "AI_CORE", 10 * i, 10 * i + 5);
  TestApi api(builder.Job());
  Request request{.method = "POST",
                  .path = "/ds/d/metric",
                  .query = {},
                  .body = R"({"name":"kernel_places"})",
                  .is_gone = [] { return true; }};
  const Response gone = api.Send(request);
  EXPECT_EQ(gone.status, 503);
  EXPECT_LT(gone.body.size(), 1000u);
  request.is_gone = [] { return false; };
  EXPECT_EQ(api.Send(request).status, 200);
}

TEST_F(ApiTest, ModulesOfARank) {
  Request request{.method = "GET", .path = "/ds/d/modules", .query = {}, .body = "", .is_gone = {}};
  request.query = {{"rank", "0"}};
  EXPECT_EQ(TestApi::Json(api_.Send(request)).root()["modules"].ToText(), "[]");
  request.query = {{"rank", "7"}};
  EXPECT_EQ(api_.Send(request).status, 404);
}

TEST_F(ApiTest, IdsAndTimesWithAFractionAreRefusedByName) {
  const std::string track = std::to_string(api_.TrackOf("r0/hw/stream2"));
  const auto get = [&](std::string id, std::string i) {
    Request request{.method = "GET", .path = "/ds/d/slice", .query = {}, .body = "", .is_gone = {}};
    request.query = {{"track", std::move(id)}, {"i", std::move(i)}};
    return api_.Send(request);
  };
  EXPECT_EQ(get(track, "5").status, 200);
  EXPECT_EQ(get(track + ".0", "5e0").status, 200);
  EXPECT_EQ(get(track + ".4", "5").status, 400);
  const Response half = get(track, "4.6");
  EXPECT_EQ(half.status, 400);
  EXPECT_NE(half.body.find("'i' is not a whole number"), std::string::npos) << half.body;
  EXPECT_EQ(get(track, "nan").status, 400);
  const std::string range = R"(,"t1":600,"tracks":[)" + track;
  EXPECT_EQ(api_.Ask("POST", "/ds/d/range", R"({"t0":0.0)" + range + "]}").status, 200);
  EXPECT_EQ(api_.Ask("POST", "/ds/d/range", R"({"t0":0.5)" + range + "]}").status, 400);
  EXPECT_EQ(api_.Ask("POST", "/ds/d/range", R"({"t0":0)" + range + ".5]}").status, 400);
}

}  // namespace
}  // namespace steplens::server
