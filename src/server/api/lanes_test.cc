#include <fmt/format.h>

#include "analysis/testing/store_builder.h"
#include "server/api/test_api.h"

namespace steplens::server {
namespace {

constexpr int64_t kBegin = 1'000'000;

// Two streams that overlap for a while, and a host thread with a nested operator.
//   stream 2 |a 0-100|        |b 200-300|
//   stream 3     |c 50-150|
//   thread 1 |op 0-100: inner 10-40|
store::Job TwoStreams() {
  analysis::StoreBuilder builder;
  const auto hardware = builder.Process("Ascend Hardware");
  const auto first = builder.Thread(hardware, "Stream 2");
  const auto second = builder.Thread(hardware, "Stream 3");
  const auto host = builder.ThreadOf("Python", "Thread 1");
  builder.Slice(first, kBegin, kBegin + 100, "a", "AI_CORE");
  builder.Slice(first, kBegin + 200, kBegin + 300, "b", "AI_CORE");
  builder.Slice(second, kBegin + 50, kBegin + 150, "c", "AI_CORE");
  builder.Slice(host, kBegin, kBegin + 100, "op", "cpu_op");
  builder.Slice(host, kBegin + 10, kBegin + 40, "inner", "cpu_op");
  builder.Flow("async_npu", host, kBegin, second, kBegin + 50);
  builder.Step(7, kBegin, kBegin + 1000);
  return builder.Job();
}

class LanesTest : public testing::Test {
 protected:
  LanesTest() : api_(TwoStreams()) {
    first_ = api_.TrackOf("r0/hw/stream2");
    second_ = api_.TrackOf("r0/hw/stream3");
    host_ = api_.TrackOf("r0/py/thread1");
  }
  JsonDocument Merge() {
    return api_.Post("merge", fmt::format(R"({{"tracks":[{},{}]}})", second_, first_));
  }
  int64_t Count(std::string_view query) {
    return *api_.Post("search", fmt::format(R"({{"q":"{}"}})", query)).root()["count"].AsInt();
  }
  Response Get(std::string path, std::map<std::string, std::string, std::less<>> query) {
    return api_.Send({.method = "GET",
                      .path = std::move(path),
                      .query = std::move(query),
                      .body = "",
                      .is_gone = {}});
  }

  TestApi api_;
  int64_t first_ = 0;
  int64_t second_ = 0;
  int64_t host_ = 0;
};

TEST(Lanes, CountersBeforeAndBehindTheWorkAreReached) {
  analysis::StoreBuilder builder;
  const auto stream = builder.ThreadOf("Ascend Hardware", "Stream 2");
  builder.Slice(stream, kBegin, kBegin + 100, "a", "AI_CORE");
  const store::TrackId process = builder.Process("HBM");
  builder.store.tracks.Append(
      {.parent = process, .kind = builder.Text("counter"), .name = builder.Text("HBM 0/Read")});
  const auto series = static_cast<store::TrackId>(builder.store.tracks.size() - 1);
  for (const int64_t ts_ns : {kBegin - 500, kBegin + 50, kBegin + 700})
    builder.store.counters.Append({.track = series, .ts_ns = ts_ns, .value = 1});
  TestApi api(builder.Job());
  const JsonDocument meta = TestApi::Json(api.Ask("GET", "/ds/d"));
  EXPECT_EQ(meta.root()["origin_ns"].AsString(), std::to_string(kBegin - 500));
  EXPECT_EQ(meta.root()["extent"].ToText(), "[0,1200]");
  EXPECT_EQ(meta.root()["work"].ToText(), "[500,600]");
}

TEST(Lanes, ACounterSaysItsLargestValueOfARange) {
  analysis::StoreBuilder builder;
  builder.Slice(builder.ThreadOf("Ascend Hardware", "Stream 2"), kBegin, kBegin + 100, "a",
                "AI_CORE");
  const store::TrackId process = builder.Process("HBM");
  builder.store.tracks.Append(
      {.parent = process, .kind = builder.Text("counter"), .name = builder.Text("HBM 0/Read")});
  const auto series = static_cast<store::TrackId>(builder.store.tracks.size() - 1);
  for (const auto& [ts_ns, value] : {std::pair(0, 7.0), std::pair(40, 3.0), std::pair(80, 5.5)})
    builder.store.counters.Append({.track = series, .ts_ns = kBegin + ts_ns, .value = value});
  TestApi api(builder.Job());
  const int64_t track = api.TrackOf("r0/counters/npu/hbm0-read");
  const auto rows = [&](int64_t t0, int64_t t1) {
    return api.Post("lanes", fmt::format(R"({{"tracks":[{}],"t0":{},"t1":{}}})", track, t0, t1))
        .root()["rows"]
        .ToText();
  };
  EXPECT_EQ(rows(50, 90), fmt::format("[[{},1,0,5.5]]", track));
  // The value at the start of the range also counts.
  EXPECT_EQ(rows(30, 60), fmt::format("[[{},1,0,7]]", track));
}

TEST(Lanes, AThreadIsCalledByItsNumberOrByWhatItSaysItIs) {
  analysis::StoreBuilder builder;
  const auto process = builder.Process("python", "", "1");
  for (const char* tid : {"25738", "stream 7"}) {
    builder.store.tracks.Append(
        {.parent = process, .kind = builder.Text("thread"), .tid = builder.Text(tid)});
    builder.Slice(static_cast<store::TrackId>(builder.store.tracks.size() - 1), kBegin, kBegin + 10,
                  "x");
  }
  TestApi api(builder.Job());
  const std::string tracks = api.Ask("GET", "/ds/d/tracks").body;
  EXPECT_NE(tracks.find("\"Thread 25738\""), std::string::npos) << tracks;
  EXPECT_NE(tracks.find("\"stream 7\""), std::string::npos) << tracks;
}

TEST_F(LanesTest, FocusTakesRanks) {
  EXPECT_EQ(api_.Ask("POST", "/ds/d/focus", R"({"ranks":[0,7]})").status, 204);
  EXPECT_EQ(api_.Ask("POST", "/ds/d/focus", R"({"ranks":"x"})").status, 400);
  EXPECT_EQ(TestApi::Json(api_.Ask("GET", "/ds/d")).root()["pending"].ToText(), "[]");
}

// Two planes wait, for a while at the same time.
TEST(Waits, AreALaneOfTheirOwnThatCountsOnlyWhereItIsNamed) {
  analysis::StoreBuilder builder;
  builder.Slice(builder.ThreadOf("Ascend Hardware", "Stream 2"), kBegin, kBegin + 500, "a",
                "AI_CORE");
  const auto process = builder.Process("Communication");
  for (const int64_t from : {0, 50}) {
    const auto plane = builder.Thread(process, from == 0 ? "Plane 0" : "Plane 1");
    builder.Slice(plane, kBegin + from, kBegin + from + 100, "Notify_Wait");
    builder.Slice(plane, kBegin + 200, kBegin + 300, "Memcpy");
  }
  TestApi api(builder.Job());
  const auto range = [&](int64_t track) {
    return api.Post("range", fmt::format(R"({{"tracks":[{}],"t0":0,"t1":1000}})", track));
  };
  const JsonDocument wait = range(api.TrackOf("r0/overlap/wait"));
  EXPECT_EQ(wait.root()["total"]["sum"].AsInt(), 150);
  EXPECT_EQ(wait.root()["total"]["count"].AsInt(), 1);
  const JsonDocument all = range(api.TrackOf("r0"));
  all.root()["rows"].ForEachElement([&](JsonValue row) {
    EXPECT_EQ(row.ToText().find("\"Wait\""), std::string::npos) << row.ToText();
  });
}

TEST_F(LanesTest, MergedStreamsAreOneLane) {
  const JsonDocument merged = Merge();
  EXPECT_EQ(merged.root()["name"].AsString(), "Stream 2 + Stream 3");
  EXPECT_EQ(merged.root()["path"].AsString(), "r0/hw/stream2+stream3");
  EXPECT_EQ(merged.root()["n"].AsInt(), 3);
  EXPECT_EQ(merged.root()["rows"].AsInt(), 2);
  const int64_t track = *merged.root()["track"].AsInt();
  EXPECT_EQ(*Merge().root()["track"].AsInt(), track) << "the same lanes are merged once";
  const JsonDocument range =
      api_.Post("range", fmt::format(R"({{"tracks":[{}],"t0":0,"t1":1000}})", track));
  EXPECT_EQ(range.root()["total"]["count"].AsInt(), 3);
  EXPECT_EQ(range.root()["total"]["covered"].AsInt(), 250);
  const JsonDocument search =
      api_.Post("search", fmt::format(R"({{"q":"c","mode":"exact","tracks":[{}]}})", track));
  EXPECT_EQ(search.root()["per_track"].ToText(), fmt::format("[[{},1]]", second_));
}

TEST_F(LanesTest, SlicesOfMergedLanesKnowTheirHome) {
  const std::string track = std::to_string(*Merge().root()["track"].AsInt());
  const JsonDocument slice =
      TestApi::Json(Get("/ds/d/slice", {{"track", track}, {"i", "2"}}));  // c
  EXPECT_EQ(slice.root()["row"].AsInt(), 1);
  EXPECT_EQ(slice.root()["path"].AsString(), "r0/hw/stream3");
  EXPECT_NE(slice.root()["flows_in"].ToText().find("\"op\""), std::string::npos);
  const JsonDocument flows =
      api_.Post("flows", fmt::format(R"({{"tracks":[{},{}],"t0":0,"t1":1000}})", host_, track));
  EXPECT_EQ(flows.root()["flows"].ToText(), fmt::format("[[{},0,0,{},1,50,1,0]]", host_, track));
  const JsonDocument next =
      api_.Post("next", fmt::format(R"({{"track":{},"i":0,"same":"track"}})", track));
  EXPECT_EQ(next.root()["name"].AsString(), "c");
}

TEST_F(LanesTest, RefusesToMergeWhatIsNotTwoLanes) {
  for (const std::string& tracks :
       {std::string(""), std::to_string(first_), fmt::format("{},{}", first_, first_),
        fmt::format("{},1", first_), fmt::format("{},999999999", first_)}) {
    EXPECT_EQ(api_.Ask("POST", "/ds/d/merge", R"({"tracks":[)" + tracks + "]}").status, 400)
        << tracks;
  }
  const int64_t track = *Merge().root()["track"].AsInt();
  EXPECT_EQ(
      api_.Ask("POST", "/ds/d/merge", fmt::format(R"({{"tracks":[{},{}]}})", track, host_)).status,
      400);
}

TEST_F(LanesTest, LanesSayHowBusyTheyAre) {
  const int64_t merged = *Merge().root()["track"].AsInt();
  const JsonDocument answer =
      api_.Post("lanes", fmt::format(R"({{"tracks":[{},{},{},{}],"t0":60,"t1":260}})", first_,
                                     second_, merged, api_.TrackOf("r0/hw")));
  EXPECT_EQ(answer.root()["rows"].ToText(),
            fmt::format("[[{},2,100],[{},1,90],[{},3,150],[{},3,150]]", first_, second_, merged,
                        api_.TrackOf("r0/hw")));
  EXPECT_EQ(api_.Ask("POST", "/ds/d/lanes", R"({"tracks":[77],"t0":0,"t1":1})").status, 400);
}

//   stream 7       |gemm 0-40|  |gemm 60-100|
//   on top of it   |annotation 0-100|
TEST(Lanes, AnnotationsOfAStreamAreALaneAndNoWork) {
  analysis::StoreBuilder builder;
  const auto stream = builder.ThreadOf("python", "stream 7");
  builder.Slice(stream, kBegin, kBegin + 40, "gemm", "kernel");
  builder.Slice(stream, kBegin + 60, kBegin + 100, "gemm", "kernel");
  builder.Slice(stream, kBegin, kBegin + 100, "forward", "gpu_user_annotation");
  TestApi api(builder.Job());
  const auto load = [&](const char* path) {  // slices and busy time
    const int64_t track = api.TrackOf(path);
    const JsonDocument reply =
        api.Post("lanes", fmt::format(R"({{"tracks":[{}],"t0":0,"t1":100}})", track));
    return reply.root()["rows"].ToText().substr(std::to_string(track).size() + 3);
  };
  EXPECT_EQ(load("r0/python/stream7"), "2,80]]");
  EXPECT_EQ(load("r0/python/stream7-annotations"), "1,100]]");
  EXPECT_EQ(load("r0"), "2,80]]");
}

//   stream 2 |a 0-20|EVENT_WAIT 20-90|b 90-100|
TEST(Lanes, AStreamThatWaitsIsNotBusy) {
  analysis::StoreBuilder builder;
  const auto stream = builder.ThreadOf("Ascend Hardware", "Stream 2");
  builder.Slice(stream, kBegin, kBegin + 20, "a", "AI_CORE");
  builder.Slice(stream, kBegin + 20, kBegin + 90, "EVENT_WAIT", "EVENT_WAIT");
  builder.Slice(stream, kBegin + 90, kBegin + 100, "b", "AI_CORE");
  TestApi api(builder.Job());
  const JsonDocument reply =
      api.Post("lanes", fmt::format(R"({{"tracks":[{},{}],"t0":0,"t1":100}})",
                                    api.TrackOf("r0/hw/stream2"), api.TrackOf("r0")));
  // Slices, busy time, and of the stream the time in which it only waits.
  const std::string text = reply.root()["rows"].ToText();
  EXPECT_NE(text.find(",3,30,null,70]"), std::string::npos) << text;
  EXPECT_NE(text.find(",2,30]]"), std::string::npos) << text;
}

// The same stream in buckets of 4 ns: work in 0 to 4, waits in 5 to 21, both in 22, work in 23
// and 24.
TEST(Lanes, TheTileOfARankShowsWaitsApart) {
  analysis::StoreBuilder builder;
  const auto stream = builder.ThreadOf("Ascend Hardware", "Stream 2");
  builder.Slice(stream, kBegin, kBegin + 20, "a", "AI_CORE");
  builder.Slice(stream, kBegin + 20, kBegin + 90, "EVENT_WAIT", "EVENT_WAIT");
  builder.Slice(stream, kBegin + 90, kBegin + 100, "b", "AI_CORE");
  TestApi api(builder.Job());
  const std::string body =
      api.Ask("POST", "/tiles", fmt::format(R"({{"ds":"d","keys":[[{},2,0]]}})", api.TrackOf("r0")))
          .body;
  const auto byte = [&](size_t at) { return static_cast<int>(static_cast<uint8_t>(body.at(at))); };
  const auto bytes = [&](size_t at) {
    return std::vector<int>{byte(at), byte(at + 1), byte(at + 2), byte(at + 3)};
  };
  ASSERT_EQ(body.size(), 16u + 4 + 8 + 8 + 4 + 4);
  EXPECT_EQ(byte(9), 2) << "a summary";
  EXPECT_EQ(byte(10), 2) << "with waits";
  EXPECT_EQ(byte(16), 4) << "runs";
  const std::vector<int> begins = {byte(20), byte(22), byte(24), byte(26)};
  const std::vector<int> ends = {byte(28), byte(30), byte(32), byte(34)};
  EXPECT_EQ(begins, (std::vector<int>{0, 5, 22, 23}));
  EXPECT_EQ(ends, (std::vector<int>{5, 22, 23, 25}));
  EXPECT_EQ(bytes(36), (std::vector<int>{255, 0, 128, 255})) << "work";
  EXPECT_EQ(bytes(40), (std::vector<int>{0, 255, 128, 0})) << "waits";
}

TEST_F(LanesTest, SearchJoinsTerms) {
  EXPECT_EQ(Count("name=a or name=c"), 2);
  EXPECT_EQ(Count("cat=AI_CORE and not (name=a or lane:\\\"Stream 3\\\")"), 1);
  EXPECT_EQ(Count("not cat=AI_CORE lane:python"), 2);
  EXPECT_EQ(Count("self>=70ns lane:python"), 1);
  EXPECT_EQ(Count("step=7 cat=cpu_op"), 2);
  EXPECT_EQ(Count("rank!=0"), 0);
  EXPECT_EQ(Count("arg.x=1 or name=a"), 1) << "slices without arguments have none";
  EXPECT_EQ(api_.Ask("POST", "/ds/d/search", R"({"q":"name~a or"})").status, 400);
}

TEST_F(LanesTest, HistogramsTakeFiltersAndMarkASlice) {
  const JsonDocument answer = api_.Post(
      "hist",
      fmt::format(R"({{"q":"lane:python","bins":2,"log":false,"by":"rank","track":{},"i":4}})",
                  host_));
  EXPECT_EQ(answer.root()["bins"].ToText(), R"([{"from":30,"to":65,"count":1,"ranks":[[0,1]]},)"
                                            R"({"from":65,"to":101,"count":1,"ranks":[[0,1]]}])");
  EXPECT_EQ(answer.root()["at"].AsInt(), 0);
  EXPECT_EQ(api_.Post("hist", R"({"name":"a"})").root()["count"].AsInt(), 1);
}

TEST_F(LanesTest, NextFollowsAnArrow) {
  const JsonDocument there =
      api_.Post("next", fmt::format(R"({{"track":{},"i":3,"same":"flow"}})", host_));
  EXPECT_EQ(there.root()["name"].AsString(), "c");
  const JsonDocument back =
      api_.Post("next", fmt::format(R"({{"track":{},"i":2,"same":"flow","dir":-1}})", second_));
  EXPECT_EQ(back.root()["name"].AsString(), "op");
  EXPECT_EQ(
      api_.Ask("POST", "/ds/d/next", fmt::format(R"({{"track":{},"i":2,"same":"flow"}})", second_))
          .status,
      404);
}

TEST_F(LanesTest, ARangeIsWrittenAsAChromeTrace) {
  const Response response =
      api_.Ask("POST", "/ds/d/trace",
               fmt::format(R"({{"t0":0,"t1":120,"tracks":[{},{}]}})", host_, second_));
  ASSERT_EQ(response.status, 200);
  std::string text;
  for (std::string piece; response.stream(piece); piece.clear()) text += piece;
  const Result<JsonDocument> trace = JsonDocument::Parse(text, "trace");
  ASSERT_TRUE(trace.ok()) << text;
  std::map<std::string, int> phases;
  trace->root()["traceEvents"].ForEachElement(
      [&](JsonValue event) { ++phases[std::string(*event["ph"].AsString())]; });
  EXPECT_EQ(phases, (std::map<std::string, int>{{"M", 4}, {"X", 3}, {"s", 1}, {"f", 1}}));
  EXPECT_NE(text.find(R"("name": "c", "cat": "AI_CORE")"), std::string::npos) << text;
}

// Lanes of a query: by rank and `lane`, with tiles, slices and statistics like any other.
TEST_F(LanesTest, RowsOfAQueryBecomeLanes) {
  const std::string body =
      R"q({"name":"mine","query":"SELECT begin_ns AS ts, dur_ns AS dur, 'x' || name AS name, )q"
      R"q(CASE name WHEN 'c' THEN 'other' END AS lane FROM slices WHERE name IN ('a','b','c')"})q";
  const JsonDocument made = api_.Post("sql_lanes", body);
  const JsonValue lanes = made.root()["lanes"];
  std::vector<int64_t> tracks;
  std::vector<std::string> names;
  lanes.ForEachElement([&](JsonValue lane) {
    tracks.push_back(*lane["track"].AsInt());
    names.emplace_back(*lane["name"].AsString());
  });
  ASSERT_EQ(names, (std::vector<std::string>{"mine", "other"}));
  const JsonDocument slice =
      TestApi::Json(Get("/ds/d/slice", {{"track", std::to_string(tracks[0])}, {"i", "1"}}));
  EXPECT_EQ(slice.root()["name"].AsString(), "xb");
  EXPECT_EQ(slice.root()["begin"].AsInt(), 200);
  EXPECT_EQ(slice.root()["dur"].AsInt(), 100);
  const JsonDocument range = api_.Post(
      "range", fmt::format(R"({{"tracks":[{},{}],"t0":0,"t1":1000}})", tracks[0], tracks[1]));
  EXPECT_EQ(range.root()["total"]["count"].AsInt(), 3);
  EXPECT_EQ(Count("x"), 0);  // a search is about what was captured
  // The same query again gives the same lanes.
  const JsonDocument again = api_.Post("sql_lanes", body);
  EXPECT_EQ(again.root()["lanes"].ToText(), lanes.ToText());
  for (const char* request : {"flows", "hist", "search", "next", "lanes", "events"}) {
    const Response response = api_.Ask(
        "POST", std::string("/ds/d/") + request,
        fmt::format(R"({{"tracks":[{0}],"track":{0},"i":0,"dir":1,"t0":0,"t1":9,"q":"a"}})",
                    tracks[0]));
    EXPECT_LT(response.status, 500) << request << response.body;
  }
}

TEST_F(LanesTest, AResultWithoutTimesMakesNoLanes) {
  const auto status = [&](const char* query) {
    return api_.Ask("POST", "/ds/d/sql_lanes", fmt::format(R"({{"query":"{}"}})", query)).status;
  };
  EXPECT_EQ(status("SELECT name FROM slices"), 400);
  EXPECT_EQ(status("SELECT name AS ts FROM slices"), 400);
  EXPECT_EQ(status("SELECT begin_ns AS ts FROM slices WHERE 0"), 400);
  EXPECT_EQ(status("SELECT begin_ns AS ts, 77 AS rank FROM slices"), 400);
  EXPECT_EQ(status("SELECT nothing"), 400);
  EXPECT_EQ(status("SELECT begin_ns AS ts FROM slices"), 200);
}

}  // namespace
}  // namespace steplens::server
