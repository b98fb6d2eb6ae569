#include "analysis/explain/explain.h"

#include <gtest/gtest.h>

#include "analysis/explain/explain_common.h"
#include "analysis/viewer/test_rank.h"

namespace steplens::analysis {
namespace {

using viewer::TestRank;

double ShareOf(const Explanation& explanation, std::string_view key) {
  for (const Evidence& item : explanation.items) {
    if (item.wording.key == key) return item.share;
  }
  return -1;
}

TEST(TimeText, HasThreeDigits) {
  EXPECT_EQ(TimeText(999), "999 ns");
  EXPECT_EQ(TimeText(1500), "1.5 us");
  EXPECT_EQ(TimeText(999600), "1 ms");
  EXPECT_EQ(TimeText(2500000), "2.5 ms");
  EXPECT_EQ(TimeText(999600000), "1 s");
  EXPECT_EQ(TimeText(1234000000000), "1234 s");
}

TEST(FindGap, IsBetweenTwoTasks) {
  TestRank rank;
  rank.Task("a", "Add", 0, 10);
  rank.Task("b", "Add", 50, 60);
  EXPECT_EQ(*FindGap(rank.store, rank.stream, 20), (Interval{10, 50}));
  EXPECT_EQ(FindGap(rank.store, rank.stream, 5).error().message,
            "a task runs at this time: there is no gap");
  EXPECT_EQ(FindGap(rank.store, rank.stream, 70).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(FindGap(rank.store, store::TrackId{99}, 70).error().code, ErrorCode::kNotFound);
}

// The next task is launched late: first the host is to blame, then the launch.
TEST(ExplainGap, DividesTheGapByCause) {
  TestRank rank;
  rank.Task("a", "Add", 0, 100);
  rank.Task("b", "Add", 1100, 1200);
  rank.Slice(rank.host, 0, 800, "DataLoader.__next__", "cpu_op");
  rank.Slice(rank.host, 800, 1000, "aten::add", "cpu_op");
  rank.Flow("async_npu", rank.host, 800, rank.stream, 1100);
  const store::Job job = JobOf(rank);
  const auto why = ExplainGap(job, 0, store::TrackId{3}, {100, 1100});
  ASSERT_TRUE(why.ok());
  EXPECT_DOUBLE_EQ(ShareOf(*why, "gap.host_bound"), 0.7);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "gap.launch"), 0.3);
  EXPECT_EQ(why->verdict.key, "gap.host_bound");
  EXPECT_DOUBLE_EQ(ShareOf(*why, "gap.data_loader"), 0.7);
  double sum = 0;
  for (size_t i = 0; i < 4; ++i) sum += why->items[i].share;
  EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(ExplainGap, CommunicationThatRunsMeanwhileIsTheCause) {
  TestRank rank;
  rank.Task("a", "Add", 0, 100);
  rank.Task("b", "Add", 1100, 1200);
  rank.Comm("hcom_allReduce__001_0_1", 50, 1050);
  rank.Flow("async_npu", rank.host, 10, rank.stream, 1100);
  const store::Job job = JobOf(rank);
  const auto why = ExplainGap(job, 0, store::TrackId{3}, {100, 1100});
  ASSERT_TRUE(why.ok());
  EXPECT_DOUBLE_EQ(ShareOf(*why, "gap.communication"), 0.95);
  EXPECT_EQ(why->verdict.key, "gap.communication");
}

// In any order, with gaps that end together, lie in each other, are empty or have no task behind.
TEST(ExplainGaps, SaysOfEachWhatItSaysOfOne) {
  TestRank rank;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t begin_us = 100 * i + 7 * (i % 5);
    rank.Slice(rank.host, begin_us - 60, begin_us - 20, "aten::add", "cpu_op");
    rank.Task("k" + std::to_string(i), "Add", begin_us, begin_us + 30 + i % 11);
    if (i % 6 != 0) rank.Flow("async_npu", rank.host, begin_us - 60, rank.stream, begin_us);
    if (i % 9 == 0) rank.Comm("hcom_allReduce__" + std::to_string(i), begin_us, begin_us + 70);
  }
  const store::Job job = JobOf(rank);
  std::vector<Interval> gaps;
  for (int64_t i = 37; i >= 0; i -= 3) gaps.push_back({100 * i + 40, 100 * (i + 1 + i % 2)});
  gaps.insert(gaps.end(), {{140, 200}, {150, 200}, {9, 9}, {3000, 90000}, {-50, 0}});
  const auto all = ExplainGaps(job, 0, store::kNoTrack, gaps);
  ASSERT_EQ(all.size(), gaps.size());
  size_t with_host = 0;
  for (size_t i = 0; i < gaps.size(); ++i) {
    const auto one = ExplainGap(job, 0, store::kNoTrack, gaps[i]);
    ASSERT_EQ(one.ok(), all[i].ok()) << i;
    if (!one.ok()) continue;
    ASSERT_EQ(one->items.size(), all[i]->items.size()) << i;
    with_host += one->items.size() > 4;
    for (size_t k = 0; k < one->items.size(); ++k) {
      EXPECT_EQ(one->items[k].wording.key, all[i]->items[k].wording.key) << i;
      EXPECT_EQ(one->items[k].ns, all[i]->items[k].ns) << i;
      EXPECT_EQ(one->items[k].slice.has_value(), all[i]->items[k].slice.has_value()) << i;
    }
  }
  EXPECT_GT(with_host, 5u);
}

TEST(ExplainGap, SaysWhenTheLaunchIsNotRecorded) {
  TestRank rank;
  rank.Task("a", "Add", 0, 100);
  rank.Task("b", "Add", 1100, 1200);
  const store::Job job = JobOf(rank);
  EXPECT_EQ(ExplainGap(job, 0, store::kNoTrack, {100, 1100})->verdict.key, "gap.unknown");
  EXPECT_FALSE(ExplainGap(job, 0, store::kNoTrack, {5, 5}).ok());
  EXPECT_FALSE(ExplainGap(job, 7, store::kNoTrack, {5, 9}).ok());
}

TEST(ExplainWait, NamesTheRankThatCameLast) {
  TestRank early(0);
  TestRank late(5);
  const store::SliceId slice = early.Comm("hcom_allReduce__001_0_1", 0, 1000);
  late.Task("Long", "MatMul", 100, 790);
  late.Comm("hcom_allReduce__001_0_1", 800, 1000);
  // The group has two ranks.
  early.store.comm_links.Append(
      {.group_name = early.Text("group_a_name"), .src_rank = 0, .dst_rank = 1});
  const store::Job job = JobOf(early, late);
  const auto why = ExplainWait(job, 0, slice);
  ASSERT_TRUE(why.ok());
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.skew"), 0.8);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.transfer"), 0.2);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.last_computed"), 0.69);
  EXPECT_EQ(English(why->verdict), "800 ns waiting for rank 5, the last to arrive");
  EXPECT_EQ(why->items[0].slice->rank_index, 1u);
}

// Nobody says how many ranks the group has: one that was not captured may have come later.
TEST(ExplainWait, NamesTheLastOfTheCapturedRanksWhereTheGroupMayBeLarger) {
  TestRank early(0);
  TestRank late(5);
  const store::SliceId slice = early.Comm("hcom_allReduce__001_0_1", 0, 1000);
  late.Comm("hcom_allReduce__001_0_1", 800, 1000);
  const auto why = ExplainWait(JobOf(early, late), 0, slice);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(English(why->verdict), "800 ns waiting for rank 5, the last of 2 captured ranks");
  EXPECT_EQ(ShareOf(*why, "warning.group_size_unknown"), 0);
}

// The first all-reduce of a step, of which 2 of 8 ranks were captured: what is idle is no transfer,
// and none of the two is blamed.
TEST(ExplainWait, IdleTimeOfAPartlyCapturedCallBlamesNobody) {
  TestRank first(0);
  TestRank second(1);
  const std::string_view name = "hcom_allReduce__586_0_1";
  const std::string_view group = "17522688603477080586";
  const store::SliceId slice = first.Comm(name, 0, 83'938'000, 256, group);
  second.Comm(name, 5'000'000, 83'938'000, 256, group);
  for (TestRank* rank : {&first, &second}) {
    rank->store.comm_times.Append({.step = rank->Text("step50"),
                                   .kind = rank->Text("collective"),
                                   .op_name = rank->Text(name),
                                   .group_name = rank->Text(group),
                                   .start_us = 0,
                                   .elapse_ms = 83.938,
                                   .transit_ms = 0.238,
                                   .wait_ms = 0,
                                   .synchronization_ms = 0});
    rank->store.comm_links.Append({.group_name = rank->Text(group), .src_rank = 0, .dst_rank = 7});
  }
  const store::Job job = JobOf(first, second);
  const auto why = ExplainWait(job, 0, slice);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(English(why->verdict),
            "83.7 ms idle, cause not captured: 6 of 8 ranks of the group are missing");
  EXPECT_EQ(why->items[0].wording.key, "wait.idle");
  EXPECT_EQ(why->items[0].ns, 83'700'000);
  EXPECT_EQ(why->items[1].wording.key, "wait.transfer");
  EXPECT_EQ(why->items[1].ns, 238'000);
  EXPECT_EQ(ShareOf(*why, "wait.skew"), -1);
  EXPECT_EQ(ShareOf(*why, "wait.partial"), 0);
}

TEST(ExplainWait, ALateRankExplainsIdleTimeWhereAllAreCaptured) {
  TestRank early(0);
  TestRank late(5);
  const store::SliceId slice = early.Comm("hcom_allReduce__001_0_1", 0, 1000);
  late.Comm("hcom_allReduce__001_0_1", 800, 1000);
  early.store.comm_times.Append({.op_name = early.Text("hcom_allReduce__001_0_1"),
                                 .group_name = early.Text("group_a_name"),
                                 .start_us = 0,
                                 .elapse_ms = 0.001,
                                 .transit_ms = 0.0001,
                                 .wait_ms = 0.0002,
                                 .synchronization_ms = 0.0002});
  const auto why = ExplainWait(JobOf(early, late), 0, slice);
  ASSERT_TRUE(why.ok());
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.others"), 0.2);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.idle"), 0.7);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.transfer"), 0.1);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.skew_of_captured"), 0.8);
  EXPECT_EQ(English(why->verdict), "800 ns until rank 5 arrived, the last of 2");
}

TEST(ExplainWait, CannotDivideACallOfOneRank) {
  TestRank rank;
  const store::SliceId slice = rank.Comm("hcom_allReduce__001_0_1", 0, 1000);
  const store::SliceId other = rank.Slice(rank.host, 0, 10, "aten::add", "cpu_op");
  const store::Job job = JobOf(rank);
  EXPECT_EQ(ExplainWait(job, 0, slice)->verdict.key, "wait.alone");
  EXPECT_EQ(ExplainWait(job, 0, other).error().message, "the slice is no communication operator");
}

TEST(ExplainSlice, FindsWhatIsDifferent) {
  TestRank rank;
  const store::TrackId counter = rank.Thread(rank.Process("AI Core Freq"), "AI Core Freq");
  rank.store.counters.Append({.track = counter, .ts_ns = 0, .value = 1800});
  rank.store.counters.Append({.track = counter, .ts_ns = 5000, .value = 900});
  for (int64_t i = 0; i < 5; ++i) rank.Task("m", "MatMul", i * 1000, i * 1000 + 100);
  const store::SliceId slow = rank.Task("m", "MatMul", 6000, 6200);
  const store::SliceId usual = rank.Task("m", "MatMul", 7000, 7100);
  const store::SliceId alone = rank.Task("only", "MatMul", 8000, 8100);
  const store::Job job = JobOf(rank);
  EXPECT_EQ(English(ExplainSlice(job, 0, slow)->verdict),
            "the device ran at 900 MHz, typically at 1800");
  EXPECT_EQ(ExplainSlice(job, 0, usual)->verdict.key, "slice.usual");
  EXPECT_EQ(ExplainSlice(job, 0, alone)->verdict.key, "slice.alone");
  EXPECT_FALSE(ExplainSlice(job, 0, store::kNoSlice).ok());
}

// The host waits for the last of two kernels.
TEST(ExplainSlice, ASynchronisationIsExplainedByTheLastKernelItWaitsFor) {
  TestRank rank;
  rank.Task("first", "Add", 0, 4000);
  const store::SliceId last = rank.Task("last", "MatMul", 4000, 10000);
  rank.Task("later", "Add", 20000, 21000);
  const store::SliceId sync =
      rank.Slice(rank.host, 1000, 11000, "AscendCL@aclrtSynchronizeStream", "");
  const auto why = ExplainSlice(JobOf(rank), 0, sync);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(English(why->verdict), "it waited for last on Stream 2, which ended 1 us before it");
  EXPECT_EQ(why->items.back().slice->slice, last);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "sync.computing"), 0.9);
  EXPECT_DOUBLE_EQ(ShareOf(*why, "sync.idle"), 0.1);
}

TEST(ExplainSlice, AnEventWaitIsExplainedByTheTaskBeforeItsRecord) {
  TestRank rank;
  const store::TrackId other = rank.ThreadOf("Ascend Hardware", "Stream 4");
  rank.Slice(other, 0, 5000, "Reduce_Inline");
  rank.Slice(other, 5000, 5000, "EVENT_RECORD");
  rank.Slice(other, 6000, 9000, "unrelated");
  const store::SliceId wait = rank.Slice(rank.stream, 1000, 5010, "EVENT_WAIT");
  const auto why = ExplainSlice(JobOf(rank), 0, wait);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(English(why->verdict),
            "it waited for the event that Stream 4 recorded after Reduce_Inline");
}

TEST(ExplainSlice, AWaitWhoseEndWasNotCapturedSaysSo) {
  TestRank rank;
  rank.Task("earlier", "Add", 0, 100);
  const store::SliceId sync = rank.Slice(rank.host, 1000, 9000, "cudaDeviceSynchronize", "");
  const store::SliceId event = rank.Slice(rank.stream, 1000, 9000, "EVENT_WAIT");
  const store::Job job = JobOf(rank);
  EXPECT_EQ(English(ExplainSlice(job, 0, sync)->verdict),
            "The task that ended the wait was not captured.");
  EXPECT_EQ(ExplainSlice(job, 0, event)->verdict.key, "sync.not_captured");
}

TEST(ExplainSlice, ANotifyWaitIsExplainedByItsCollective) {
  TestRank early(0);
  TestRank late(5);
  early.Comm("hcom_allReduce__001_0_1", 0, 1000);
  const store::SliceId wait = early.Slice(early.stream, 100, 900, "Notify Wait");
  late.Comm("hcom_allReduce__001_0_1", 800, 1000);
  const auto why = ExplainSlice(JobOf(early, late), 0, wait);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(English(why->verdict), "800 ns waiting for rank 5, the last of 2 captured ranks");
}

// Whoever asks about a collective as about any slice gets the model's division.
TEST(ExplainSlice, ACollectiveIsDividedByTheModel) {
  TestRank early(0);
  TestRank late(5);
  const store::SliceId slice = early.Comm("hcom_allReduce__001_0_1", 0, 1000);
  late.Comm("hcom_allReduce__001_0_1", 800, 1000);
  const store::Job job = JobOf(early, late);
  const auto why = ExplainSlice(job, 0, slice);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(English(why->verdict), English(ExplainWait(job, 0, slice)->verdict));
  EXPECT_DOUBLE_EQ(ShareOf(*why, "wait.transfer"), 0.2);
}

// Stream 2 waits for stream 4, which itself waited for stream 6: what stream 6 did is the cause.
TEST(ExplainSlice, AnEventWaitBehindAnotherIsFollowedToTheWork) {
  TestRank rank;
  const store::TrackId second = rank.ThreadOf("Ascend Hardware", "Stream 4");
  const store::TrackId third = rank.ThreadOf("Ascend Hardware", "Stream 6");
  rank.Slice(third, 0, 5000, "Reduce_Inline");
  rank.Slice(third, 5000, 5000, "EVENT_RECORD");
  rank.Slice(second, 500, 5010, "EVENT_WAIT");
  rank.Slice(second, 5020, 5020, "EVENT_RECORD");
  const store::SliceId wait = rank.Slice(rank.stream, 1000, 5030, "EVENT_WAIT");
  const auto why = ExplainSlice(JobOf(rank), 0, wait);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(English(why->verdict),
            "it waited for the event that Stream 6 recorded after Reduce_Inline");
}

// A GPU trace says which call recorded the event; the work launched before it on that stream is
// what is waited for, whatever ends later.
//   host     |10 launch a 20|  |30 record 31|  |40 launch b 50|
//   stream 7     |100 ------ a ------ 900| |900 b 2000|
//   stream 9          |200 -- Stream Wait Event -- 910|
TEST(ExplainSlice, AnEventWaitOnAGpuIsExplainedByTheRecordThatTheTraceNames) {
  StoreBuilder b;
  b.store.info.source = store::Source::kKineto;
  const store::TrackId host = b.ThreadOf("python", "main");
  const store::TrackId gpu = b.Process("GPU 0");
  const auto stream = [&](const char* tid) {
    const store::TrackId track = b.Thread(gpu, std::string("stream ") + tid);
    b.store.tracks.tid.Set(static_cast<size_t>(track), b.Text(tid));
    return track;
  };
  const store::TrackId seven = stream("7");
  const store::TrackId nine = stream("9");
  b.Slice(host, 10, 20, "cudaLaunchKernel", "cuda_runtime", 1);
  b.Slice(host, 30, 31, "cudaEventRecord", "cuda_runtime", 2);
  b.Slice(host, 40, 50, "cudaLaunchKernel", "cuda_runtime", 3);
  const store::SliceId a = b.Slice(seven, 100, 900, "a", "kernel", 1);
  b.Slice(seven, 900, 2000, "b", "kernel", 3);
  const store::SliceId wait = b.Slice(nine, 200, 910, "Stream Wait Event", "cuda_sync", 4);
  b.Slice(nine, 910, 1000, "c", "kernel", 5);
  const store::Job job = b.Job();
  const auto read_args = [&](const store::TraceStore&, store::SliceId slice) {
    return slice == wait ? std::string(R"({"stream": 9, "wait_on_stream": 7,
                                           "wait_on_cuda_event_record_corr_id": 2})")
                         : std::string();
  };
  const auto why = ExplainSlice(job, 0, wait, RankView(job.ranks[0]), read_args);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(English(why->verdict), "it waited for the event that stream 7 recorded after a");
  EXPECT_EQ(why->items.back().slice->slice, a);
}

// A GPU shows the wait of a call on the stream that it waits for; annotations are shown there, too.
// None of them is the work that was waited for.
//   host     |290 cudaStreamSynchronize 910|
//   stream 7 |100 --- a --- 900|, |300 -- Stream Sync -- 905|, |50 --- annotation --- 906|
//   stream 9 |100 - elsewhere - 904|
TEST(ExplainSlice, ASynchronisationOnItsStreamIsExplainedByTheWorkThere) {
  StoreBuilder b;
  b.store.info.source = store::Source::kKineto;
  const store::TrackId host = b.ThreadOf("python", "main");
  const store::TrackId gpu = b.Process("GPU 0");
  const store::TrackId seven = b.Thread(gpu, "stream 7");
  b.store.tracks.tid.Set(static_cast<size_t>(seven), b.Text("7"));
  const store::SliceId a = b.Slice(seven, 100, 900, "a", "kernel", 1);
  b.Slice(b.Thread(gpu, "stream 9"), 100, 904, "elsewhere", "kernel", 2);
  b.Slice(seven, 50, 906, "annotation", "gpu_user_annotation");
  const store::SliceId sync = b.Slice(seven, 300, 905, "Stream Sync", "cuda_sync", 3);
  const store::SliceId call = b.Slice(host, 290, 910, "cudaStreamSynchronize", "cuda_runtime", 3);
  const store::Job job = b.Job();
  const auto of_sync = ExplainSlice(job, 0, sync);
  ASSERT_TRUE(of_sync.ok());
  EXPECT_EQ(English(of_sync->verdict), "it waited for a on stream 7, which ended 5 ns before it");
  EXPECT_EQ(of_sync->items.back().slice->slice, a);
  const auto read_args = [&](const store::TraceStore&, store::SliceId slice) {
    return slice == sync ? std::string(R"({"stream": 7})") : std::string();
  };
  const auto of_call = ExplainSlice(job, 0, call, RankView(job.ranks[0]), read_args);
  ASSERT_TRUE(of_call.ok());
  EXPECT_EQ(of_call->items.back().slice->slice, a);
}

TEST(ExplainSlice, AQueueWaitIsExplainedByTheThreadThatEndsIt) {
  TestRank rank;
  const store::TrackId worker = rank.ThreadOf("Python", "pin memory");
  rank.Slice(worker, 500, 3000, "collate", "python_function");
  const store::SliceId wait = rank.Slice(
      rank.host, 1000, 3005, "<built-in method acquire of _thread.lock>", "python_function");
  const auto why = ExplainSlice(JobOf(rank), 0, wait);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(English(why->verdict),
            "it waited for collate on pin memory, which ended 5 ns before it");
}

}  // namespace
}  // namespace steplens::analysis
