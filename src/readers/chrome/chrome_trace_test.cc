#include "readers/chrome/chrome_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <random>
#include <thread>

#include "base/cancel.h"
#include "base/testing/gzip_text.h"
#include "base/testing/scratch_folder.h"
#include "readers/testing/read_text.h"

namespace steplens::readers {
namespace {

using store::IssueKind;
using store::TraceStore;
using testing_support::Describe;
using testing_support::ReadJson;

TEST(ChromeTrace, StringTimestampKeepsNanoseconds) {
  const TraceStore store =
      ReadJson(R"([{"ph":"X","name":"k","pid":1,"tid":2,"ts":"1736412474714493.390","dur":1.5}])");
  ASSERT_EQ(store.slices.size(), 1u);
  EXPECT_EQ(store.slices.begin_ns[0], 1736412474714493390);
  EXPECT_EQ(store.slices.dur_ns[0], 1500);
}

TEST(ChromeTrace, ReadingIsGivenUpWhenNobodyWantsItAnyMore) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i)
    text += fmt::format(R"({{"ph":"X","name":"k","pid":1,"tid":2,"ts":{},"dur":1}},)", 10 * i);
  text.back() = ']';
  ThreadPool pool(2);
  TraceStore store;
  const ReadOptions options{.pool = &pool, .chunk_bytes = 4096};
  const CancelScope scope([] { return true; });
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // it is asked after 50
  const Status status = ReadChromeText(text, "test.json", options, store);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
}

TEST(ChromeTrace, ArrayAndObjectFormGiveTheSameSlices) {
  const std::string events = R"([{"ph":"X","name":"k","pid":1,"tid":"2","ts":1,"dur":2}])";
  for (const std::string& text :
       {events, "  \n" + events, "\xEF\xBB\xBF" + events,
        R"({"schemaVersion":1,"traceEvents":)" + events + "}",
        R"({"traceEvents" : )" + events + R"(,"distributedInfo":{"rank":3}})",
        R"({"note":"a \"traceEvents\": [ in a text","x":[{"traceEvents":[]}],"traceEvents":)" +
            events + "}"}) {
    const TraceStore store = ReadJson(text);
    ASSERT_EQ(store.slices.size(), 1u) << text;
    EXPECT_EQ(store.slices.begin_ns[0], 1000);
    EXPECT_TRUE(store.issues.empty()) << text;
  }
}

TEST(ChromeTrace, MembersOfTheObjectFormBecomeMeta) {
  const TraceStore store = ReadJson(
      R"({"schemaVersion":1,"traceEvents":[],"distributedInfo":{"rank":3},"traceName":"a\/b"})");
  EXPECT_EQ(store.FindMeta("schemaVersion"), "1");
  EXPECT_EQ(store.FindMeta("distributedInfo"), R"({"rank":3})");
  EXPECT_EQ(store.FindMeta("traceName"), "a/b");
}

TEST(ChromeTrace, BaseTimeIsAddedToEveryTime) {
  const TraceStore store = ReadJson(
      R"({"traceEvents":[{"ph":"X","name":"k","pid":1,"tid":2,"ts":5,"dur":2},)"
      R"({"ph":"C","name":"c","pid":1,"ts":6,"args":{"v":1}}],"baseTimeNanoseconds":1000000000000000000})");
  EXPECT_EQ(store.slices.begin_ns[0], 1000000000000005000);
  EXPECT_EQ(store.counters.ts_ns[0], 1000000000000006000);
}

TEST(ChromeTrace, TaskTypeIsTheCategoryOfASliceWithoutOne) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":1,"args":{"Model Id":1,"Task Type":"AI_CORE"}},)"
      R"({"ph":"X","name":"b","pid":1,"tid":2,"ts":2,"dur":1,"cat":"cpu_op","args":{"Task Type":"AI_CORE"}},)"
      R"({"ph":"X","name":"c","pid":1,"tid":2,"ts":3,"dur":1,"args":{"task type":"SDMA"}}])");
  EXPECT_EQ(store.Text(store.slices.category[0]), "AI_CORE");
  EXPECT_EQ(store.Text(store.slices.category[1]), "cpu_op");
  EXPECT_EQ(store.Text(store.slices.category[2]), "");
}

TEST(ChromeTrace, MarksKeepTheirKindDomainAndDeviceSide) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","name":"forward","pid":1,"tid":2,"ts":1,"dur":4,
           "args":{"event_type":"start/end","domain":"Module","connection_id":7}},
          {"ph":"X","name":"loss","pid":1,"tid":2,"ts":9,"dur":0,
           "args":{"Category":0,"Payload_type":0,"event_type":"marker"}},
          {"ph":"X","name":"old","pid":1,"tid":2,"ts":10,"dur":0,"args":{"event_type":3}},
          {"ph":"X","name":"no mark","pid":1,"tid":2,"ts":11,"dur":1,"args":{"domain":"x"}}])");
  ASSERT_EQ(store.markers.size(), 3u);
  EXPECT_EQ(store.markers.slice[0], store::SliceId{0});
  EXPECT_EQ(store.markers.event_type[0], 2);
  EXPECT_EQ(store.Text(store.markers.domain[0]), "Module");
  EXPECT_EQ(store.markers.correlation[0], 7);
  EXPECT_EQ(store.markers.event_type[1], 0);
  EXPECT_EQ(store.Text(store.markers.domain[1]), "");
  EXPECT_EQ(store.markers.correlation[1], store::kNone);
  EXPECT_EQ(store.markers.event_type[2], 3);
}

TEST(ChromeTrace, TextAndNumberIdsNameTheSameTrack) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","name":"a","pid":1,"tid":"7","ts":1,"dur":1},{"ph":"X","name":"b","pid":"1","tid":7,"ts":2,"dur":1},)"
      R"({"ph":"M","name":"thread_name","pid":1,"tid":"7","args":{"name":"main"}},)"
      R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}},)"
      R"({"ph":"M","name":"process_labels","pid":1,"args":{"labels":"CPU"}},)"
      R"({"ph":"M","name":"thread_sort_index","pid":1,"tid":7,"args":{"sort_index":4}}])");
  ASSERT_EQ(store.tracks.size(), 2u);  // the process and its thread
  EXPECT_EQ(store.slices.track[0], store.slices.track[1]);
  const auto thread = static_cast<size_t>(store.slices.track[0]);
  EXPECT_EQ(store.Text(store.tracks.name[thread]), "main");
  EXPECT_EQ(store.tracks.sort_index[thread], 4);
  const auto process = static_cast<size_t>(store.tracks.parent[thread]);
  EXPECT_EQ(store.Text(store.tracks.name[process]), "python");
  EXPECT_EQ(store.Text(store.tracks.label[process]), "CPU");
}

TEST(ChromeTrace, FlowIdsBeyond64BitsPairExactly) {
  const TraceStore store = ReadJson(
      R"([{"ph":"s","cat":"HostToDevice","id":"55426082093320372223","pid":1,"tid":1,"ts":1},)"
      R"({"ph":"s","cat":"HostToDevice","id":"55426082093320372224","pid":1,"tid":1,"ts":2},)"
      R"({"ph":"f","cat":"HostToDevice","id":"55426082093320372224","pid":1,"tid":2,"ts":4},)"
      R"({"ph":"f","cat":"HostToDevice","id":"55426082093320372223","pid":1,"tid":2,"ts":3}])");
  ASSERT_EQ(store.flows.size(), 2u);
  EXPECT_EQ(store.flows.from_ns[0], 2000);
  EXPECT_EQ(store.flows.to_ns[0], 4000);
  EXPECT_EQ(store.flows.from_ns[1], 1000);
  EXPECT_EQ(store.Text(store.flows.kind[0]), "HostToDevice");
}

TEST(ChromeTrace, ArrowsOfTorchNpuAreNumberedByTheirEnds) {
  const auto read = [](const std::string& kind, const std::string& id) {
    return ReadJson(R"([{"ph":"s","cat":")" + kind + R"(","id":)" + id +
                    R"(,"pid":1,"tid":1,"ts":"1736408883694699.510"},{"ph":"f","cat":")" + kind +
                    R"(","id":)" + id + R"(,"pid":1,"tid":2,"ts":"1736408883700059.821"}])");
  };
  const TraceStore sound = read("async_npu", "1736408883700059821");
  EXPECT_EQ(sound.flows.size(), 1u);
  EXPECT_TRUE(sound.issues.empty());
  EXPECT_TRUE(read("HostToDevice", "1736408883700059828").issues.empty());
  const TraceStore odd = read("async_npu", "1736408883700059828");  // at both ends
  EXPECT_EQ(odd.flows.size(), 1u);
  EXPECT_EQ(odd.issues.entry(IssueKind::kFlowIdInvalid).example,
            "test.json: flow 'async_npu' at 1736408883700059821 ns has the id 1736408883700059828");
}

TEST(ChromeTrace, OneStartMayHaveTwoEndsAndACategoryIsPartOfTheId) {
  const TraceStore store = ReadJson(
      R"([{"ph":"s","cat":"a","id":1,"pid":1,"tid":1,"ts":1},{"ph":"s","cat":"b","id":1,"pid":1,"tid":1,"ts":2},)"
      R"({"ph":"f","cat":"a","id":1,"pid":1,"tid":2,"ts":3},{"ph":"f","cat":"a","id":1,"pid":1,"tid":2,"ts":4},)"
      R"({"ph":"f","cat":"c","id":1,"pid":1,"tid":2,"ts":5}])");
  ASSERT_EQ(store.flows.size(), 2u);
  EXPECT_EQ(store.flows.from_ns[1], 1000);
  EXPECT_EQ(store.issues.entry(IssueKind::kFlowWithoutStart).count, 1u);
  EXPECT_EQ(store.issues.entry(IssueKind::kFlowWithoutEnd).count, 1u);
}

TEST(ChromeTrace, AReusedIdBelongsToTheStartBeforeIt) {
  const TraceStore store = ReadJson(
      R"([{"ph":"s","cat":"a","id":1,"pid":1,"tid":1,"ts":1},{"ph":"f","cat":"a","id":1,"pid":1,"tid":2,"ts":2},)"
      R"({"ph":"s","cat":"a","id":1,"pid":1,"tid":1,"ts":10},{"ph":"f","cat":"a","id":1,"pid":1,"tid":2,"ts":11}])");
  ASSERT_EQ(store.flows.size(), 2u);
  EXPECT_EQ(store.flows.from_ns[0], 1000);
  EXPECT_EQ(store.flows.from_ns[1], 10000);
}

TEST(ChromeTrace, HostOperatorsKeepShapesAndStacksWithoutLineBreaks) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","name":"aten::add","cat":"cpu_op","pid":1,"tid":2,"ts":1,"dur":1,"args":{"Sequence number":5,)"
      R"("Fwd thread id":7,"Input Dims":"32,3;\r\n3","Input type":"float;\r\nfloat","Call stack":"a.py(1): f;\r\nb.py(2): g"}}])");
  ASSERT_EQ(store.host_ops.size(), 1u);
  EXPECT_EQ(store.host_ops.sequence_number[0], 5);
  EXPECT_EQ(store.host_ops.fwd_thread[0], 7);
  EXPECT_EQ(store.Text(store.host_ops.input_shapes[0]), "32,3;3");
  EXPECT_EQ(store.Text(store.host_ops.call_stack[0]), "a.py(1): f;b.py(2): g");
}

TEST(ChromeTrace, CountersHaveATrackPerSeries) {
  const TraceStore store =
      ReadJson(R"j([{"ph":"C","name":"HBM 0/Read","pid":9,"ts":"1.5","args":{"Read(MB/s)":2.5}},)j"
               R"({"ph":"C","name":"read_ost","pid":9,"ts":"2","args":{"value":1,"acc_id":0}},)"
               R"({"ph":"C","name":"read_ost","pid":9,"ts":"2","args":{"value":3,"acc_id":1}},)"
               R"({"ph":"C","name":"read_ost","pid":9,"ts":"3","args":{"value":4,"acc_id":1}}])");
  ASSERT_EQ(store.counters.size(), 4u);
  EXPECT_EQ(store.counters.value[0], 2.5);
  EXPECT_NE(store.counters.track[1], store.counters.track[2]);
  EXPECT_EQ(store.counters.track[2], store.counters.track[3]);
}

TEST(ChromeTrace, CounterValuesThatAreNoNumbersAreCounted) {
  const TraceStore store =
      ReadJson(R"([{"ph":"C","name":"f","pid":9,"ts":"1","args":{"MHz":NaN}},)"
               R"({"ph":"C","name":"f","pid":9,"ts":"2","args":{"MHz":"fast"}},)"
               R"({"ph":"C","name":"f","pid":9,"ts":"3","args":{"MHz":1800}}])");
  EXPECT_EQ(store.counters.size(), 1u);
  EXPECT_EQ(store.issues.entry(store::IssueKind::kJsonFieldInvalid).count, 2u);
}

TEST(ChromeTrace, BeginAndEndEventsBecomeSlices) {
  const TraceStore store = ReadJson(
      R"([{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"B","name":"b","pid":1,"tid":1,"ts":2},)"
      R"({"ph":"E","pid":1,"tid":1,"ts":3},{"ph":"E","pid":1,"tid":1,"ts":5},{"ph":"E","pid":1,"tid":1,"ts":6}])");
  ASSERT_EQ(store.slices.size(), 2u);
  EXPECT_EQ(store.Text(store.slices.name[1]), "a");
  EXPECT_EQ(store.slices.dur_ns[1], 4000);
  EXPECT_EQ(store.issues.entry(IssueKind::kBeginWithoutEnd).count, 1u);
}

TEST(ChromeTrace, AnEndBeforeItsBeginIsCountedAndLastsNoTime) {
  const TraceStore store = ReadJson(
      R"([{"ph":"B","name":"a","pid":1,"tid":1,"ts":5},{"ph":"E","pid":1,"tid":1,"ts":3}])");
  ASSERT_EQ(store.slices.size(), 1u);
  EXPECT_EQ(store.slices.dur_ns[0], 0);
  EXPECT_EQ(store.issues.entry(IssueKind::kNegativeDuration).count, 1u);
}

TEST(ChromeTrace, MemoryEventsWithoutAddressPairBySize) {
  const auto event = [](int ts, int device, int bytes) {
    return fmt::format(
        R"({{"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":{},"args":{{"Device Type":{},"Device Id":0,"Bytes":{}}}}})",
        ts, device, bytes);
  };
  const TraceStore store =
      ReadJson(fmt::format("[{},{},{},{},{}]", event(1, 1, 64), event(2, 1, 64), event(3, 0, -64),
                           event(4, 1, -64), event(5, 1, -32)));
  ASSERT_EQ(store.allocations.size(), 2u);
  EXPECT_EQ(store.allocations.release_ns[0], store::kNone);
  EXPECT_EQ(store.allocations.release_ns[1], 4000);
  EXPECT_EQ(store.allocations.dur_ns[1], 2000);
}

TEST(ChromeTrace, MemoryEventsPairByAddress) {
  const TraceStore store = ReadJson(
      R"([{"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{"Device Type":1,"Device Id":0,"Addr":10,"Bytes":64,"Total Allocated":64}},)"
      R"({"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":4,"args":{"Device Type":1,"Device Id":0,"Addr":10,"Bytes":-64,"Total Allocated":0}},)"
      R"({"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":5,"args":{"Device Type":0,"Device Id":-1,"Bytes":8}}])");
  ASSERT_EQ(store.allocations.size(), 2u);
  EXPECT_EQ(store.allocations.release_ns[0], 4000);
  EXPECT_EQ(store.allocations.release_ns[1], store::kNone);
  EXPECT_EQ(store.Text(store.allocations.device[0]), "GPU:0");
  EXPECT_EQ(store.Text(store.allocations.device[1]), "CPU");
  EXPECT_EQ(store.memory_samples.size(), 3u);
}

TEST(ChromeTrace, ArgsAreFoundAgainByTheirOffset) {
  const std::string text =
      R"([ {"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args": {"x": [1, {"y": "}"}], "connection_id": 7 } } ])";
  const TraceStore store = ReadJson(text);
  EXPECT_EQ(
      text.substr(static_cast<size_t>(store.slices.args_offset[0]), store.slices.args_size[0]),
      R"({"x": [1, {"y": "}"}], "connection_id": 7 })");
  EXPECT_EQ(store.slices.correlation[0], 7);
}

TEST(ChromeTrace, CommunicationTracksGiveOperationsAndTasks) {
  const TraceStore store = ReadJson(
      R"([{"ph":"M","name":"process_name","pid":5,"tid":0,"args":{"name":"HCCL"}},)"
      R"({"ph":"M","name":"thread_name","pid":5,"tid":0,"args":{"name":"Group 77 Communication"}},)"
      R"({"ph":"M","name":"thread_name","pid":5,"tid":1,"args":{"name":"Plane 0"}},)"
      R"({"ph":"X","name":"hcom_allReduce__586_0_1","pid":5,"tid":0,"ts":"1","dur":9,"args":{"connection_id":3,"data_type":"FP32","alg_type":"MESH-RING","count":12}},)"
      R"j({"ph":"X","name":"Memcpy","pid":5,"tid":1,"ts":"2","dur":1,"args":{"notify_id":"4","src rank":0,"dst rank":1,"transport type":"SDMA","size(Byte)":64,"link type":"HCCS"}}])j");
  ASSERT_EQ(store.comm_ops.size(), 1u);
  EXPECT_EQ(store.Text(store.comm_ops.group_name[0]), "77");
  EXPECT_EQ(store.Text(store.comm_ops.op_type[0]), "hcom_allReduce_");
  EXPECT_EQ(store.comm_ops.count[0], 12);
  ASSERT_EQ(store.comm_tasks.size(), 1u);
  EXPECT_EQ(store.comm_tasks.plane[0], 0);
  EXPECT_EQ(store.comm_tasks.size_bytes[0], 64);
  EXPECT_EQ(store.Text(store.comm_tasks.link[0]), "HCCS");
}

TEST(ChromeTrace, CollectivesOfAGpuGoByTheirKindAlsoWhereArgsDoNotSayIt) {
  const TraceStore store = ReadJson(
      R"j([{"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)","pid":0,"tid":7,"ts":1,"dur":1,"args":{"stream":7}},)j"
      R"j({"ph":"X","cat":"kernel","name":"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL","pid":0,"tid":7,"ts":2,"dur":1,"args":{"stream":7}},)j"
      R"j({"ph":"X","cat":"kernel","name":"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)","pid":0,"tid":7,"ts":3,"dur":1,"args":{"Collective name":"all_to_all"}},)j"
      R"j({"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic(ncclDevComm*)","pid":0,"tid":7,"ts":4,"dur":1,"args":{"stream":7}},)j"
      R"j({"ph":"X","cat":"user_annotation","name":"gloo:all_gather","pid":1,"tid":1,"ts":5,"dur":1,"args":{"stream":7}}])j");
  std::vector<std::string> types;
  for (const StringId type : store.comm_ops.op_type) types.emplace_back(store.Text(type));
  EXPECT_EQ(types, (std::vector<std::string>{"allreduce", "reducescatter", "all_to_all",
                                             "ncclDevKernel_Generic", "all_gather"}));
}

TEST(ChromeTrace, BadEventsAreCountedAndTheRestIsUsed) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","name":"no ts","pid":1,"tid":1,"dur":1},{"ph":"X","name":"nan","pid":1,"tid":1,"ts":NaN,"dur":1},)"
      R"({"ph":"X","name":"negative","pid":1,"tid":1,"ts":1,"dur":-1},{"ph":"X","name":"no dur","pid":1,"tid":1,"ts":1},)"
      R"({"ph":"X","name":"huge","pid":1,"tid":1,"ts":1e30,"dur":1},{"ph":"Z","name":"z","ts":1},7,"text",null,)"
      R"({"ph":"X","name":"good","name":"twice","pid":1,"tid":1,"ts":2,"dur":3}])");
  ASSERT_EQ(store.slices.size(), 3u);
  EXPECT_EQ(store.Text(store.slices.name[2]), "twice");
  EXPECT_EQ(store.issues.entry(IssueKind::kEventWithoutTs).count, 3u);
  EXPECT_EQ(store.issues.entry(IssueKind::kNegativeDuration).count, 1u);
  EXPECT_EQ(store.issues.entry(IssueKind::kEventWithoutDur).count, 1u);
  EXPECT_EQ(store.issues.entry(IssueKind::kEventKindIgnored).count, 1u);
  EXPECT_EQ(store.issues.entry(IssueKind::kEventDamaged).count, 3u);
}

TEST(ChromeTrace, FieldsThatRepeatAreCountedInEveryEvent) {
  const std::string good = R"({"ph":"X","name":"k","pid":1,"tid":2,"ts":1,"dur":2})";
  const std::string twice = R"({"ph":"X","name":"k","name":"z","pid":1,"tid":2,"ts":1,"dur":2})";
  const std::string arg =
      R"({"ph":"X","name":"k","pid":1,"tid":2,"ts":1,"dur":2,"args":{"stream":1,"stream":2}})";
  std::string text = "[" + good;
  for (int i = 0; i < 100; ++i) text += "," + twice + "," + good + "," + arg;
  const TraceStore store = ReadJson(text + "]");
  EXPECT_EQ(store.slices.size(), 301u);
  EXPECT_EQ(store.issues.entry(IssueKind::kJsonKeyRepeated).count, 200u);
}

TEST(ChromeTrace, ASecondListOfEventsIsCountedAndNoMeta) {
  const std::string events = R"([{"ph":"X","name":"k","pid":1,"tid":2,"ts":1,"dur":2}])";
  const TraceStore store =
      ReadJson(R"({"traceEvents":)" + events + R"(,"traceEvents":)" + events + "}");
  EXPECT_EQ(store.slices.size(), 1u);
  EXPECT_EQ(store.issues.entry(IssueKind::kJsonKeyRepeated).count, 1u);
  EXPECT_FALSE(store.FindMeta("traceEvents"));
}

TEST(ChromeTrace, ADamagedEventCostsOneEvent) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}, {"ph":"X",,"name":"b"}, )"
      R"({"ph":"X","name":"c","pid":1,"tid":1,"ts":2,"dur":1}, {"ph":"X","name":"unclosed, "pid":1}, )"
      R"({"ph":"X","name":"d","pid":1,"tid":1,"ts":3,"dur":1}])");
  EXPECT_EQ(store.slices.size(), 3u);
  EXPECT_EQ(store.issues.entry(IssueKind::kEventDamaged).count, 2u);
}

// Slices 0 to count - 1, and members behind them.
std::string ManySlices(int count) {
  std::string out = R"({"traceEvents": [)";
  for (int i = 0; i < count; ++i) {
    out += fmt::format(R"({}{{"ph":"X","name":"op","pid":1,"tid":1,"ts":{},"dur":1}})",
                       i == 0 ? "" : ", ", i);
  }
  return out + R"(], "baseTimeNanoseconds": 1000000})";
}

TEST(ChromeTrace, AStrayBracketOrBraceCostsAtMostTheEventItHits) {
  const std::string sound = ManySlices(100);
  for (size_t place = 20; place < sound.find("]"); place += 7) {
    for (const char c : {']', '[', '}', '{'}) {
      const std::string text = sound.substr(0, place) + c + sound.substr(place);
      for (const size_t chunk : {512u, 1u << 20}) {
        const TraceStore store = ReadJson(text, chunk);
        ASSERT_GE(store.slices.size(), 99u) << c << " at " << place << ", pieces of " << chunk;
        ASSERT_EQ(store.FindMeta("baseTimeNanoseconds"), "1000000") << c << " at " << place;
      }
    }
  }
}

TEST(ChromeTrace, MembersBehindADamagedLastEventAreRead) {
  const TraceStore store = ReadJson(
      R"({"traceEvents": [{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}, {"ph":"X" "a":{}}],)"
      R"("baseTimeNanoseconds": 5})");
  ASSERT_EQ(store.slices.size(), 1u);
  EXPECT_EQ(store.slices.begin_ns[0], 1005);
}

TEST(ChromeTrace, MembersAroundADamagedOneAreRead) {
  const TraceStore store =
      ReadJson(R"({"traceEvents": [{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}],)"
               R"("first": 1, "bad": 1 2, "baseTimeNanoseconds": 5})");
  EXPECT_EQ(store.FindMeta("first"), "1");
  EXPECT_FALSE(store.FindMeta("bad"));
  EXPECT_EQ(store.slices.begin_ns[0], 1005);
  EXPECT_EQ(store.issues.entry(IssueKind::kTraceTruncated).count, 1u);
}

TEST(ChromeTrace, InvalidUtf8IsRepairedInPlace) {
  const TraceStore store = ReadJson(
      "[{\"ph\":\"X\",\"name\":\"a\xff\xfe\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},"
      "{\"ph\":\"X\",\"name\":\"\xe4\xb8\xad\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":1}]");
  ASSERT_EQ(store.slices.size(), 2u);
  EXPECT_EQ(store.Text(store.slices.name[0]), "a??");
  EXPECT_EQ(store.Text(store.slices.name[1]), "\xe4\xb8\xad");
  EXPECT_EQ(store.issues.entry(IssueKind::kInvalidUtf8).count, 1u);
}

TEST(ChromeTrace, TimesAtTheEndsOfTheRangeDoNotOverflow) {
  const TraceStore store = ReadJson(
      R"({"traceEvents":[{"ph":"B","name":"a","pid":1,"tid":1,"ts":-9223372036854775},{"ph":"E","pid":1,"tid":1,"ts":9223372036854775},)"
      R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":9223372036854770,"dur":5}],"baseTimeNanoseconds":9223372036854775807})");
  for (size_t i = 0; i < store.slices.size(); ++i) {
    EXPECT_GE(store.slices.begin_ns[i] + store.slices.dur_ns[i], store.slices.begin_ns[i]);
  }
}

TEST(ChromeTrace, AStepThatIsMarkedTwiceIsOne) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","name":"ProfilerStep#2","pid":9,"tid":1,"ts":11,"dur":7},)"
      R"({"ph":"X","name":"ProfilerStep#2","pid":1,"tid":1,"ts":10,"dur":9,"cat":"cpu_op"},)"
      R"({"ph":"X","name":"ProfilerStep#3","pid":1,"tid":1,"ts":19,"dur":5,"cat":"cpu_op"},)"
      R"({"ph":"X","name":"ProfilerStep#2","pid":1,"tid":1,"ts":30,"dur":4,"cat":"cpu_op"}])");
  ASSERT_EQ(store.steps.size(), 3u);
  const store::StepTable::Row expected[] = {
      {2, 10000, 19000}, {3, 19000, 24000}, {2, 30000, 34000}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(store.steps.step[i], expected[i].step);
    EXPECT_EQ(store.steps.begin_ns[i], expected[i].begin_ns);
    EXPECT_EQ(store.steps.end_ns[i], expected[i].end_ns);
  }
}

TEST(ChromeTrace, DeepNestingIsNoProblem) {
  const std::string deep = std::string(10000, '[') + std::string(10000, ']');
  const TraceStore store =
      ReadJson(R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"x":)" + deep +
               R"(}},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":1}])");
  EXPECT_EQ(store.slices.size(), 2u);
}

TEST(ChromeTrace, TruncatedAtEveryByteKeepsTheWholeEventsBefore) {
  const std::string first =
      R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"k":"}],{"}})";
  const std::string second = R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":1})";
  const std::string text = "[" + first + ", " + second + "]";
  for (size_t size = 1; size < text.size(); ++size) {
    const TraceStore store = ReadJson(text.substr(0, size));
    const size_t whole = size >= text.size() - 1 ? 2 : size >= first.size() + 1 ? 1 : 0;
    ASSERT_EQ(store.slices.size(), whole) << size;
    ASSERT_EQ(store.issues.entry(IssueKind::kTraceTruncated).count, 1u) << size;
    const bool is_between = size == 1 || (size >= first.size() + 1 && size <= first.size() + 3) ||
                            size == text.size() - 1;
    ASSERT_EQ(store.issues.entry(IssueKind::kEventDamaged).count, is_between ? 0u : 1u) << size;
  }
}

TEST(ChromeTrace, AnObjectFormTruncatedAtEveryByteBehindItsEventsIsCounted) {
  const std::string events =
      R"({"traceEvents": [{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}])";
  const std::string first = R"(, "distributedInfo": {"rank": 3, "x": [1, 2]})";
  const std::string text = events + first + R"(, "traceName": "a, b"})";
  for (size_t size = events.size(); size < text.size(); ++size) {
    const TraceStore store = ReadJson(text.substr(0, size));
    ASSERT_EQ(store.slices.size(), 1u) << size;
    ASSERT_EQ(store.issues.entry(IssueKind::kTraceTruncated).count, 1u) << size;
    const bool has_first = size > events.size() + first.size();  // with the comma behind it
    ASSERT_EQ(store.FindMeta("distributedInfo").has_value(), has_first) << size;
  }
  const TraceStore whole = ReadJson(text + "\n ");
  EXPECT_TRUE(whole.issues.empty());
  EXPECT_EQ(whole.FindMeta("traceName"), "a, b");
}

TEST(ChromeTrace, TextBehindTheEndIsCountedAndTheTraceUsed) {
  const std::string events = R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}])";
  for (const std::string& text :
       {events + "x", events + "\n" + events, R"({"traceEvents": )" + events + "} more",
        R"({"traceEvents": )" + events + R"(, "traceName": "t"}])"}) {
    for (const size_t chunk : {16u, 1u << 20}) {
      const TraceStore store = ReadJson(text, chunk);
      ASSERT_EQ(store.slices.size(), 1u) << text;
      const auto& issue = store.issues.entry(IssueKind::kTextBehindEnd);
      ASSERT_EQ(issue.count, 1u) << text;
      EXPECT_TRUE(issue.example.starts_with("test.json: text behind the end of the trace: '"));
    }
  }
}

TEST(ChromeTrace, AFileThatIsNoTraceIsRefusedWithItsName) {
  ThreadPool pool(1);
  ReadOptions options;
  options.pool = &pool;
  for (const char* text : {"", "hello", "{\"a\": 1}", "   ", "{"}) {
    TraceStore store;
    const Status status = ReadChromeText(text, "x.json", options, store);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_TRUE(status.error().message.starts_with("x.json: ")) << status.error().message;
  }
}

// Events of all kinds with awkward texts, in random order.
std::string RandomTrace(std::mt19937& random) {
  static const char* kNames[] = {"aten::add", "a\\\"}, {\\\"ph\\\": 1", "\\u4e2d",
                                 "x]",        "ProfilerStep#7",         "[memory]"};
  std::string out = random() % 2 == 0 ? "[" : R"({"schemaVersion": 1, "traceEvents": [)";
  const bool is_object = out[0] == '{';
  const size_t count = random() % 60;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out += random() % 3 == 0 ? ",\n  " : ", ";
    static const char* kPhases[] = {"X", "X", "X", "s", "f", "C", "M", "i", "B", "E"};
    out += std::string(R"({"ph": ")") + kPhases[random() % 10] + R"(", "name": ")" +
           kNames[random() % 6] + R"(", "pid": )" + std::to_string(random() % 3) + R"(, "tid": ")" +
           std::to_string(random() % 3) + R"(", "ts": )" + std::to_string(random() % 1000) +
           R"(.5, "dur": 1, "id": )" + std::to_string(random() % 5) +
           R"(, "cat": "cpu_op", "args": {"v": 1, "list": [{"ph": 1}, {"ph": 2}], "Bytes": 4}})";
  }
  out += is_object ? R"(], "tail": [{"name": 1}, {"name": 2}]})" : "]";
  return out;
}

TEST(ChromeTrace, AnyChunkSizeAndThreadCountGivesTheSameStore) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    std::string text = RandomTrace(random);
    if (round % 3 == 2) text.resize(text.size() - text.size() / 4);  // cut off
    const std::string expected = Describe(ReadJson(text));
    for (const size_t chunk : {16u, 100u, 333u, 4096u}) {
      for (const size_t threads : {1u, 2u, 7u}) {
        ASSERT_TRUE(Describe(ReadJson(text, chunk, threads)) == expected)
            << chunk << " " << threads << "\n"
            << text;
      }
    }
  }
}

TEST(ChromeTrace, GzipOneMemberOrTwoOrCutOff) {
  const std::string first = R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},)";
  const std::string second = R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":1}])";
  const ScratchFolder folder;
  const std::string whole = folder.Write("whole", Gzip(first + second));
  const std::string members = folder.Write("members", Gzip(first) + Gzip(second));
  const std::string packed = Gzip(first + second);
  const std::string cut = folder.Write("cut", packed.substr(0, packed.size() - 9));
  ThreadPool pool(2);
  ReadOptions options;
  options.pool = &pool;
  for (const std::string& path : {whole, members}) {
    TraceStore store;
    ASSERT_TRUE(ReadChromeTrace(path, options, store).ok());
    EXPECT_EQ(store.slices.size(), 2u);
    EXPECT_TRUE(store.issues.empty());
  }
  TraceStore store;
  ASSERT_TRUE(ReadChromeTrace(cut, options, store).ok());
  EXPECT_GE(store.slices.size(), 1u);
  EXPECT_EQ(store.issues.entry(IssueKind::kTraceTruncated).count, 1u);
}

TEST(ChromeTrace, DamageInAGzipFileLosesNothingBeforeIt) {
  const std::string packed = Gzip(ManySlices(20000));
  const ScratchFolder folder;
  ThreadPool pool(2);
  ReadOptions options;
  options.pool = &pool;
  for (size_t tenth = 2; tenth < 10; ++tenth) {
    std::string damaged = packed;
    damaged[packed.size() * tenth / 10] ^= 0x55;
    TraceStore store;
    ASSERT_TRUE(ReadChromeTrace(folder.Write("damaged", damaged), options, store).ok());
    EXPECT_GE(store.slices.size(), 20000 * (tenth - 1) / 10) << tenth;
    EXPECT_GE(store.issues.entry(IssueKind::kTraceTruncated).count, 1u);
  }
}

}  // namespace
}  // namespace steplens::readers
