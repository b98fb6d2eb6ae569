// The library from outside, through collect.h: what is called is what is in the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "collect/json_text.h"
#include "collect/test_capture.h"

namespace steplens::collect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Names(const std::vector<Framed<format::OpRange>>& ops) {
  std::vector<std::string> names;
  for (const auto& op : ops) names.push_back(op.fields.at(format::kOpName));
  return names;
}

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

std::map<std::string, std::string> InfoOf(const std::string& path) {
  const auto members = JsonMembers(ReadWhole(path));
  EXPECT_TRUE(members) << path;
  std::map<std::string, std::string> out;
  if (members) out.insert(members->begin(), members->end());
  return out;
}

class Capture : public testing::Test {
 protected:
  ~Capture() override { sl_discard(); }
  void Start() { Start(OptionsFor(capture_)); }
  void Start(const sl_options& options) { ASSERT_EQ(sl_start(&options), SL_OK) << sl_last_error(); }
  sl_statistics Stop() {
    sl_statistics statistics = {};
    EXPECT_EQ(sl_stop(&statistics), SL_OK) << sl_last_error();
    return statistics;
  }

  ScratchFolder folder_;
  const std::string capture_ = folder_ / "new/capture";
};

TEST_F(Capture, NestedRangesAreOperatorsInTheOrderTheyEnded) {
  Start();
  sl_range_begin(Id("outer"));
  sl_range_begin(Id("inner"));
  sl_range_end();
  sl_range_end();
  const sl_statistics statistics = Stop();
  EXPECT_EQ(statistics.recorded, 2u);
  EXPECT_EQ(statistics.dropped, 0u);
  const auto ops = ReadOps(capture_);
  EXPECT_THAT(Names(ops), ElementsAre("inner", "outer"));
  EXPECT_LE(ops[1].fixed.start, ops[0].fixed.start);
  EXPECT_LE(ops[0].fixed.end, ops[1].fixed.end);
  EXPECT_EQ(ops[0].fixed.scope, format::kScopeUser);
  EXPECT_EQ(ops[0].fixed.sequence, -1);
  EXPECT_EQ(ops[0].fixed.start_thread, sl_thread());
  EXPECT_EQ(ops[0].fixed.process_id, static_cast<uint64_t>(getpid()));
  EXPECT_EQ(statistics.bytes_written,
            ReadWhole(capture_ + "/FRAMEWORK/torch.op_range").size() +
                ReadWhole(capture_ + "/FRAMEWORK/steplens.thread").size());
}

TEST_F(Capture, WritesEveryFieldOfAnOperator) {
  Start();
  const int64_t shapes[] = {2, 32, 3, -1};
  const sl_field fields[] = {{32, Id("group")}, {33, Id("4096")}};
  sl_op op = {};
  op.start = sl_now();
  op.end = op.start + 10;
  op.sequence = 5;
  op.start_thread = 71;
  op.forward_thread = 3;
  op.scope = 1;
  op.is_async = 1;
  op.name = Id("AddmmBackward0");
  op.dtypes = Id("float;None");
  op.call_stack = Id("a.py(1): f;b.py(2): g");
  op.modules = Id("Net;Linear");
  op.shapes = shapes;
  op.shape_words = 4;
  op.fields = fields;
  op.field_count = 2;
  sl_record_op(&op);
  Stop();
  const auto ops = ReadOps(capture_);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].fixed.end, static_cast<int64_t>(op.end));
  EXPECT_EQ(ops[0].fixed.sequence, 5);
  EXPECT_EQ(ops[0].fixed.start_thread, 71u);
  EXPECT_EQ(ops[0].fixed.end_thread, sl_thread());
  EXPECT_EQ(ops[0].fixed.forward_thread, 3u);
  EXPECT_EQ(ops[0].fixed.scope, 1);
  EXPECT_TRUE(ops[0].fixed.is_async);
  const std::map<int, std::string> expected = {
      {2, "AddmmBackward0"}, {3, "float;None"}, {4, "32,3;"}, {8, "a.py(1): f;b.py(2): g"},
      {9, "Net;Linear"},     {32, "group"},     {33, "4096"}};
  EXPECT_EQ(ops[0].fields, expected);
}

TEST_F(Capture, WritesTheOtherFiles) {
  Start();
  sl_memory memory = {};
  memory.address = 0x1000;
  memory.size = -64;
  memory.total_active = 7;
  memory.device_type = 20;
  memory.kind = SL_FREE;
  sl_record_memory(&memory);
  sl_python_name(9, "f.py(3): g", 10);
  sl_record_python(sl_now(), 9, 2);
  sl_record_gc(sl_now(), sl_now());
  const std::string parameters(100'000, 'p');
  sl_param_info(9, 1, parameters.data(), parameters.size());
  sl_op_mark op_mark = {0, 1, 7, Id("x")};
  sl_record_op_mark(&op_mark);
  EXPECT_EQ(Stop().recorded, 6u);

  const auto memories = ReadFramed<format::MemoryUsage>(capture_, format::kMemoryFile);
  ASSERT_EQ(memories.size(), 1u);
  EXPECT_EQ(memories[0].fixed.size, -64);
  EXPECT_EQ(memories[0].fixed.device_type, 20);
  EXPECT_EQ(memories[0].fixed.kind, 1);
  EXPECT_NE(memories[0].fixed.time, 0);
  const auto names = ReadFramed<format::Keyed>(capture_, format::kPythonNameFile);
  EXPECT_EQ(names.at(0).fields.at(1), "f.py(3): g");
  const auto params = ReadFramed<format::Keyed>(capture_, format::kParamFile);
  EXPECT_EQ(params.at(0).fields.at(1), parameters);
  EXPECT_EQ(ReadWhole(capture_ + "/FRAMEWORK/torch.python_tracer_func").size(), 33u);
  EXPECT_EQ(ReadWhole(capture_ + "/FRAMEWORK/torch.gc_record").size(), 24u);
  EXPECT_EQ(ReadFramed<format::OpMark>(capture_, format::kOpMarkFile).at(0).fixed.correlation_id,
            7u);
}

TEST_F(Capture, StepsAreRangesWithTheirNumber) {
  Start();
  sl_step_begin(12);
  sl_range_begin_text("forward", 7);
  sl_range_end();
  sl_step_end();
  Stop();
  EXPECT_THAT(Names(ReadOps(capture_)), ElementsAre("forward", "ProfilerStep#12"));
}

TEST_F(Capture, AStepThatChangesInsideARangeLeavesTheRangeAlone) {
  Start();
  sl_step_begin(1);
  sl_range_begin(Id("iteration"));
  sl_step_end();
  sl_step_begin(2);
  sl_range_end();
  sl_step_end();
  Stop();
  EXPECT_THAT(Names(ReadOps(capture_)),
              ElementsAre("ProfilerStep#1", "iteration", "ProfilerStep#2"));
}

TEST_F(Capture, WhatIsOpenAroundTheEndIsKept) {
  Start();
  sl_step_begin(3);
  sl_range_begin(Id("outer"));
  sl_range_begin(Id("inner"));
  sl_pause();
  sl_range_end();
  sl_resume();
  sl_range_end();
  sl_step_end();
  Stop();
  EXPECT_THAT(Names(ReadOps(capture_)), ElementsAre("inner", "outer", "ProfilerStep#3"));
}

TEST_F(Capture, NothingIsRecordedBeforeAfterAndWhilePaused) {
  sl_range_begin(Id("before"));
  sl_options options = OptionsFor(capture_);
  options.start_paused = 1;
  Start(options);
  sl_range_end();  // of "before": there is nothing open
  sl_range_begin(Id("warm-up"));
  EXPECT_FALSE(sl_recording());
  sl_resume();
  EXPECT_TRUE(sl_recording());
  sl_range_begin(Id("kept"));
  sl_range_end();
  sl_range_end();  // of "warm-up"
  sl_pause();
  sl_range_begin(Id("paused"));
  sl_resume();
  sl_range_end();
  sl_range_begin(Id("open"));
  Stop();
  sl_range_end();
  sl_range_begin(Id("after"));
  sl_range_end();
  EXPECT_THAT(Names(ReadOps(capture_)), ElementsAre("kept", "open"));
}

TEST_F(Capture, OpenRangesOfOneCaptureDoNotEndThoseOfTheNext) {
  Start();
  sl_range_begin(Id("open in the first"));
  Stop();
  const std::string second = folder_ / "second";
  Start(OptionsFor(second));
  sl_range_begin(Id("second"));
  sl_range_end();
  sl_range_end();
  Stop();
  EXPECT_THAT(Names(ReadOps(second)), ElementsAre("second"));
}

TEST_F(Capture, ProfilerInfoHasWhatReadersNeed) {
  sl_options options = OptionsFor(capture_);
  options.rank = 3;
  options.rank_is_text = 1;
  options.config_json = "{\"common_config\": {\"activities\": [\"ProfilerActivity.CPU\"]}}";
  options.info_json = "{\"torch_npu_version\": \"2.1\"}";
  Start(options);
  const std::string path = capture_ + "/profiler_info_3.json";
  auto info = InfoOf(path);
  EXPECT_FALSE(info.contains("end_info")) << "it is still running";
  EXPECT_TRUE(info.contains("start_info"));
  Stop();
  info = InfoOf(path);
  EXPECT_EQ(info["rank_id"], "\"3\"");
  EXPECT_EQ(info["torch_npu_version"], "\"2.1\"");
  EXPECT_THAT(info["steplens_host"], HasSubstr("\"host_uid\""));
  EXPECT_THAT(info["config"], HasSubstr("ProfilerActivity.CPU"));
  const auto end = *JsonMembers(info["end_info"]);
  EXPECT_EQ(end[0].first, "collectionTimeEnd");
  EXPECT_EQ(end[1].first, "MonotonicTimeEnd");
  EXPECT_GE(JsonElements(info["steplens_clock"])->size(), 2u);
  EXPECT_EQ(JsonMembers(info["steplens_drops"])->at(1).first, "dropped");
  EXPECT_EQ(ModeOf(path), 0640u);
  EXPECT_EQ(ModeOf(capture_), 0750u);
  EXPECT_EQ(ModeOf(capture_ + "/FRAMEWORK"), 0750u);
}

TEST_F(Capture, MetadataIsKeptInOrderAndReplaced) {
  EXPECT_EQ(sl_metadata("a", "1"), SL_OK);
  Start();
  EXPECT_EQ(sl_metadata("b\"", "[true]"), SL_OK);
  EXPECT_EQ(sl_metadata("a", "{\"x\": null}"), SL_OK);
  EXPECT_EQ(sl_metadata("c", "not json"), SL_BAD_ARGUMENT);
  EXPECT_THAT(sl_last_error(), HasSubstr("not JSON"));
  EXPECT_EQ(sl_metadata(nullptr, "1"), SL_BAD_ARGUMENT);
  Stop();
  EXPECT_EQ(ReadWhole(capture_ + "/profiler_metadata.json"),
            R"({"a": {"x": null}, "b\"": [true]})");
  const std::string second = folder_ / "second";
  Start(OptionsFor(second));
  Stop();
  EXPECT_EQ(ReadWhole(second + "/profiler_metadata.json"), "{}");
  const std::string third = folder_ / "third";
  sl_options mindspore = OptionsFor(third);
  mindspore.mindspore = 1;
  Start(mindspore);
  Stop();
  EXPECT_FALSE(std::filesystem::exists(third + "/profiler_metadata.json"));
}

TEST_F(Capture, MarksKeepTheirDomainsAndTheFilterItsPromise) {
  Start();
  sl_mark_filter(1, "", "noise, other");
  sl_mark(Id("a"), 0);
  EXPECT_EQ(sl_mark_start(Id("b"), Id("noise")), 0u);
  const uint64_t id = sl_mark_start(Id("c"), Id("data"));
  EXPECT_NE(id, 0u);
  std::thread([id] { sl_mark_end(id); }).join();
  sl_mark_filter(1, "data", nullptr);
  sl_mark(Id("d"), 0);
  sl_mark(Id("e"), Id("data"));
  sl_mark_filter(0, nullptr, nullptr);
  sl_mark(Id("f"), Id("data"));
  sl_mark_filter(1, nullptr, nullptr);
  sl_mark_end(0);
  sl_mark_end(987654321);
  Stop();
  std::map<std::string, Framed<format::Mark>> marks;
  for (const auto& mark : ReadMarks(capture_)) marks[mark.fields.at(1)] = mark;
  ASSERT_EQ(marks.size(), 3u);
  EXPECT_FALSE(marks["a"].fields.contains(2));
  EXPECT_EQ(marks["e"].fields[2], "data");
  EXPECT_EQ(marks["c"].fixed.kind, format::kMarkRange);
  EXPECT_NE(marks["c"].fixed.start_thread, marks["c"].fixed.end_thread);
}

TEST_F(Capture, MarksThatLookLikeFormulasAreRefused) {
  Start();
  for (const char* text : {"=a", "+a", "-a", "@a", ""}) {
    sl_mark(Id(text), 0);
    EXPECT_EQ(sl_mark_start(Id(text), Id("data")), 0u) << text;
  }
  sl_mark(Id("b"), Id("=data"));
  sl_mark(Id("c"), Id(std::string(1024, 'd').c_str()));
  sl_mark(Id("kept"), Id(std::string(1023, 'd').c_str()));
  Stop();
  const auto marks = ReadMarks(capture_);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].fields.at(1), "kept");
}

TEST_F(Capture, ARangeEndsOnlyInItsOwnDomain) {
  Start();
  const uint64_t id = sl_mark_start(Id("a"), Id("data"));
  sl_mark_end_in(id, Id("other"));
  const uint64_t still_open = sl_mark_start(Id("b"), Id("data"));
  sl_mark_end_in(id, Id("data"));
  sl_mark_end(still_open);
  Stop();
  std::map<std::string, Framed<format::Mark>> marks;
  for (const auto& mark : ReadMarks(capture_)) marks[mark.fields.at(1)] = mark;
  EXPECT_GE(marks["a"].fixed.end, marks["b"].fixed.start);
}

TEST_F(Capture, SamplesTheHostAsCounters) {
  sl_options options = OptionsFor(capture_);
  options.host_sources = SL_HOST_CPU | SL_HOST_MEMORY;
  options.host_period_ms = 5;
  Start(options);
  sl_counter(Id("loss"), 0.25);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  Stop();
  std::map<std::string, int> samples;
  for (const auto& [series, value] : ReadCounters(capture_)) ++samples[series];
  EXPECT_EQ(samples["loss"], 1);
  EXPECT_GE(samples["Memory Usage/used"], 2);
  EXPECT_GE(samples["CPU Usage/all"], 1);
}

TEST_F(Capture, FlushBringsEverythingIntoTheFiles) {
  sl_options options = OptionsFor(capture_);
  options.flush_period_ms = 100'000;
  Start(options);
  sl_range_begin(Id("r"));
  sl_range_end();
  EXPECT_EQ(sl_flush(), SL_OK);
  EXPECT_EQ(ReadOps(capture_).size(), 1u);
  Stop();
}

TEST_F(Capture, DiscardRemovesTheFolderItMade) {
  Start();
  sl_range_begin(Id("r"));
  sl_range_end();
  EXPECT_EQ(sl_discard(), SL_OK);
  EXPECT_FALSE(std::filesystem::exists(capture_));
  EXPECT_EQ(sl_discard(), SL_NOT_RUNNING);
}

TEST_F(Capture, DiscardLeavesAFolderThatWasThere) {
  std::filesystem::create_directories(capture_);
  std::ofstream(capture_ + "/mine.txt") << "x";
  Start();
  EXPECT_EQ(sl_discard(), SL_OK);
  EXPECT_TRUE(std::filesystem::exists(capture_ + "/mine.txt"));
  EXPECT_FALSE(std::filesystem::exists(capture_ + "/FRAMEWORK"));
  EXPECT_FALSE(std::filesystem::exists(capture_ + "/profiler_info.json"));
}

TEST_F(Capture, ASecondOneAtTheSameTimeIsRefused) {
  Start();
  const std::string second = folder_ / "second";
  const sl_options options = OptionsFor(second);
  EXPECT_EQ(sl_start(&options), SL_RUNNING);
  EXPECT_THAT(sl_last_error(), HasSubstr("running already, in " + capture_));
  EXPECT_TRUE(sl_recording());
  Stop();
  EXPECT_STREQ(sl_last_error(), "");
}

TEST_F(Capture, BadOptionsAreNamed) {
  EXPECT_EQ(sl_start(nullptr), SL_BAD_ARGUMENT);
  const std::string nowhere;
  sl_options options = OptionsFor(nowhere);
  EXPECT_EQ(sl_start(&options), SL_BAD_ARGUMENT);
  EXPECT_THAT(sl_last_error(), HasSubstr("folder"));
  options = OptionsFor(capture_);
  options.config_json = "{";
  EXPECT_EQ(sl_start(&options), SL_BAD_ARGUMENT);
  EXPECT_THAT(sl_last_error(), HasSubstr("config_json"));
  options = OptionsFor(capture_);
  options.info_json = "[]";
  EXPECT_EQ(sl_start(&options), SL_BAD_ARGUMENT);
  EXPECT_FALSE(std::filesystem::exists(capture_));
  EXPECT_EQ(sl_stop(nullptr), SL_NOT_RUNNING);
  EXPECT_EQ(sl_flush(), SL_NOT_RUNNING);
}

TEST_F(Capture, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder_ / "file") << "x";
  const std::string below = folder_ / "file/capture";
  sl_options options = OptionsFor(below);
  EXPECT_EQ(sl_start(&options), SL_IO);
  EXPECT_THAT(sl_last_error(), HasSubstr(below + ": cannot make this folder: Not a directory"));
  std::filesystem::create_directory(folder_ / "taken");
  std::ofstream(folder_ / "taken/FRAMEWORK") << "x";
  const std::string taken = folder_ / "taken";
  options = OptionsFor(taken);
  EXPECT_EQ(sl_start(&options), SL_IO);
  EXPECT_THAT(sl_last_error(), HasSubstr("taken/FRAMEWORK: cannot make this folder"));
  EXPECT_FALSE(sl_recording());
}

TEST_F(Capture, AFolderWithACaptureIsNotMixedWithANewOne) {
  Start();
  sl_range_begin(Id("r"));
  sl_range_end();
  Stop();
  const sl_options options = OptionsFor(capture_);
  EXPECT_EQ(sl_start(&options), SL_IO);
  EXPECT_THAT(sl_last_error(), HasSubstr("there is a capture in this folder already"));
  EXPECT_EQ(ReadOps(capture_).size(), 1u);
}

TEST_F(Capture, AFolderOfAnotherUserIsNotRecordedInto) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  const std::string theirs = folder_ / "theirs";
  std::filesystem::create_directory(theirs);
  ASSERT_EQ(chown(theirs.c_str(), 65534, 65534), 0);
  const sl_options options = OptionsFor(theirs);
  EXPECT_EQ(sl_start(&options), SL_IO);
  EXPECT_THAT(sl_last_error(), HasSubstr("this folder belongs to another user"));
  EXPECT_TRUE(std::filesystem::is_empty(theirs));
}

}  // namespace
}  // namespace steplens::collect
