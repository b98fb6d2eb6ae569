#include "readers/ascend_text/ascend_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/cancel.h"

namespace steplens::readers {
namespace {

using store::IssueKind;
using store::kNone;
using store::TraceStore;
using testing::ElementsAre;
using testing::HasSubstr;

Status ReadBytes(std::string name, std::string_view bytes, TraceStore& out) {
  ThreadPool pool(1);
  ReadOptions options;
  options.pool = &pool;
  return ReadTextBytes(ClassifyTextFile(name), name, bytes, options, out);
}

TraceStore ReadText(std::string name, std::string_view bytes) {
  TraceStore out;
  const Status status = ReadBytes(std::move(name), bytes, out);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return out;
}

Error ReadBad(std::string name, std::string_view bytes) {
  TraceStore out;
  Status status = ReadBytes(std::move(name), bytes, out);
  EXPECT_FALSE(status.ok());
  return status.ok() ? Error{ErrorCode::kInternal, ""} : std::move(status).error();
}

std::vector<std::string_view> Texts(const TraceStore& store,
                                    const store::Column<StringId>& column) {
  std::vector<std::string_view> out;
  for (const StringId id : column) out.push_back(store.Text(id));
  return out;
}

uint64_t Count(const TraceStore& store, IssueKind kind) { return store.issues.entry(kind).count; }
const std::string& Example(const TraceStore& store, IssueKind kind) {
  return store.issues.entry(kind).example;
}

TEST(ClassifyTextFile, KnowsTheNamesOfAllTools) {
  EXPECT_EQ(ClassifyTextFile("kernel_details.csv"), TextFileKind::kKernelDetails);
  EXPECT_EQ(ClassifyTextFile("op_summary_20260511093035.csv"), TextFileKind::kKernelDetails);
  EXPECT_EQ(ClassifyTextFile("op_summary_slice_0_20260511093035.csv"),
            TextFileKind::kKernelDetails);
  EXPECT_EQ(ClassifyTextFile("operator_memory_20260511093035.csv"), TextFileKind::kOperatorMemory);
  EXPECT_EQ(ClassifyTextFile("step_trace_time.csv"), TextFileKind::kStepTrace);
  EXPECT_EQ(ClassifyTextFile("communication.json"), TextFileKind::kCommunication);
  EXPECT_EQ(ClassifyTextFile("communication_matrix.json"), TextFileKind::kCommunicationMatrix);
  EXPECT_EQ(ClassifyTextFile("profiler_info_12.json"), TextFileKind::kProfilerInfo);
  EXPECT_EQ(ClassifyTextFile("profiler_info.json"), TextFileKind::kProfilerInfo);
  EXPECT_EQ(ClassifyTextFile("profiler_metadata.json"), TextFileKind::kProfilerMetadata);
  EXPECT_EQ(ClassifyTextFile("l2_cache.csv"), TextFileKind::kSheet);
  EXPECT_EQ(ClassifyTextFile("task_time_20260511093035.csv"), TextFileKind::kSheet);
  EXPECT_EQ(ClassifyTextFile("step_trace_20260511093035.csv"), TextFileKind::kSheet);
}

TEST(ClassifyTextFile, LeavesOtherFilesAlone) {
  for (const std::string_view name :
       {"trace_view.json", "msprof_20260511093035.json", "kernel_details.xlsx",
        "cluster_step_trace_time.csv", "my_notes.csv", "", "_", ".csv", "csv"}) {
    EXPECT_EQ(ClassifyTextFile(name), TextFileKind::kUnknown) << name;
  }
}

TEST(ReadTextFile, RefusesAFileOfUnknownKind) {
  EXPECT_EQ(ReadBad("notes.csv", "a\n1\n").code, ErrorCode::kUnsupported);
}

constexpr std::string_view kKernelDetails =
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
    "Wait Time(us),Block Dim,Input Shapes,Context ID,aicore_time(us),cube_utilization(%)\r\n"
    "50,4294967295,11053,2,Conv2D1,Conv2D,AI_CORE,1736408883704903.918\t,313.886,96.222,16,"
    "\"\"\"32,1;64\"\"\",N/A,312.164,66.301\r\n"
    ",4294967295,N/A,N/"
    "A,hcom_allReduce__586_0_1,hcom_allReduce_,HCCL,1736408883732241.563\t,79089.52,"
    "590.331,0,N/A,N/A,N/A,N/A\r\n";

TEST(ReadKernelDetails, TypesEveryColumn) {
  const TraceStore store = ReadText("kernel_details.csv", kKernelDetails);
  const auto& kernels = store.kernels;
  EXPECT_TRUE(store.issues.empty());
  EXPECT_THAT(kernels.step.span(), ElementsAre(50, kNone));
  EXPECT_THAT(kernels.model_id.span(), ElementsAre(4294967295, 4294967295));
  EXPECT_THAT(kernels.task_id.span(), ElementsAre(11053, kNone));
  EXPECT_THAT(kernels.device.span(), ElementsAre(kNone, kNone));
  EXPECT_THAT(kernels.begin_ns.span(), ElementsAre(1736408883704903918, 1736408883732241563));
  EXPECT_THAT(kernels.dur_ns.span(), ElementsAre(313886, 79089520));
  EXPECT_THAT(kernels.wait_ns.span(), ElementsAre(96222, 590331));
  EXPECT_THAT(Texts(store, kernels.name), ElementsAre("Conv2D1", "hcom_allReduce__586_0_1"));
  EXPECT_THAT(Texts(store, kernels.core), ElementsAre("AI_CORE", "HCCL"));
  EXPECT_THAT(Texts(store, kernels.input_shapes), ElementsAre("32,1;64", ""));
  EXPECT_THAT(Texts(store, kernels.output_shapes), ElementsAre("", ""));
}

TEST(ReadKernelDetails, KeepsOtherColumnsAsMetrics) {
  const TraceStore store = ReadText("kernel_details.csv", kKernelDetails);
  ASSERT_EQ(store.kernel_metrics.size(), 2);
  EXPECT_EQ(store.kernel_metrics[0].name, "aicore_time(us)");
  EXPECT_EQ(store.kernel_metrics[1].name, "cube_utilization(%)");
  EXPECT_EQ(store.kernel_metrics[1].numbers[0], 66.301);
  EXPECT_TRUE(std::isnan(store.kernel_metrics[1].numbers[1]));
}

TEST(ReadKernelDetails, KnowsTheNamesOfOtherGenerations) {
  const TraceStore store =
      ReadText("op_summary_20260511093035.csv",
               "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task "
               "Wait Time(us),Block Num\n"
               "3,MatMul,MatMulV2,AI_CORE,1778463028384811.770\t,5.482,0,24\n");
  EXPECT_TRUE(store.issues.empty());
  EXPECT_THAT(store.kernels.device.span(), ElementsAre(3));
  EXPECT_THAT(Texts(store, store.kernels.name), ElementsAre("MatMul"));
  EXPECT_THAT(Texts(store, store.kernels.type), ElementsAre("MatMulV2"));
  EXPECT_THAT(store.kernels.begin_ns.span(), ElementsAre(1778463028384811770));
  EXPECT_THAT(store.kernels.block_dim.span(), ElementsAre(24));
}

TEST(ReadKernelDetails, LeavesOutTheCallStackBeforeAName) {
  const TraceStore store =
      ReadText("kernel_details.csv",
               "Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)\n"
               "/a/b.py(3): f;/c.py(7): <built-in g>/aten::mm,mm,AI_CORE,1.000,5.482,0\n"
               "/c.py(7): g/Default/net/Add-op1,Add,AI_CORE,2.000,5.482,0\n"
               "Default/net/Add-op1,Add,AI_CORE,3.000,5.482,0\n"
               "/a/b.py(3): f;/c.py(7): <built-in g>/aten::mm,mm,AI_CORE,4.000,5.482,0\n");
  EXPECT_THAT(Texts(store, store.kernels.name),
              ElementsAre("aten::mm", "Default/net/Add-op1", "Default/net/Add-op1", "aten::mm"));
}

TEST(ReadKernelDetails, FindsColumnsByNameInAnyOrder) {
  const TraceStore store =
      ReadText("kernel_details.csv",
               "\xEF\xBB\xBFwait,Duration(us), Name ,Start Time(us),Step ID,Type,"
               "Accelerator Core,Wait Time(us)\n1,2,k,3,4.0,t,c,5\n");
  EXPECT_TRUE(store.issues.empty());
  EXPECT_THAT(Texts(store, store.kernels.name), ElementsAre("k"));
  EXPECT_THAT(store.kernels.step.span(), ElementsAre(4));
  EXPECT_THAT(store.kernels.begin_ns.span(), ElementsAre(3000));
  EXPECT_THAT(store.kernels.wait_ns.span(), ElementsAre(5000));
}

constexpr std::string_view kShortHeader =
    "Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)";

TraceStore ReadKernels(std::string_view more_columns, std::string_view rows) {
  std::string text(kShortHeader);
  return ReadText("kernel_details.csv", text.append(more_columns).append("\n").append(rows));
}

TEST(ReadKernelDetails, JoinsSlicesWithDifferentMetrics) {
  TraceStore store = ReadKernels(",a,b", "k0,t,c,1,1,0,10,text\n");
  const std::string more = std::string(kShortHeader) + ",b,c\nk1,t,c,2,1,0,more,30\n";
  ASSERT_TRUE(ReadBytes("kernel_details.csv", more, store).ok());
  ASSERT_EQ(store.kernel_metrics.size(), 3);
  EXPECT_EQ(store.kernels.size(), 2);
  for (const auto& metric : store.kernel_metrics) EXPECT_EQ(metric.size(), 2) << metric.name;
  EXPECT_EQ(store.kernel_metrics[0].numbers[0], 10);
  EXPECT_TRUE(std::isnan(store.kernel_metrics[0].numbers[1]));
  EXPECT_THAT(Texts(store, store.kernel_metrics[1].texts), ElementsAre("text", "more"));
  EXPECT_EQ(store.kernel_metrics[2].numbers[1], 30);
}

TEST(ReadKernelDetails, FirstValueDecidesWhatAMetricHolds) {
  const TraceStore store =
      ReadKernels(",words,numbers", "k,t,c,1,1,0,N/A,N/A\nk,t,c,1,1,0,w,1\nk,t,c,1,1,0,2,x\n");
  EXPECT_THAT(Texts(store, store.kernel_metrics[0].texts), ElementsAre("", "w", "2"));
  EXPECT_EQ(store.kernel_metrics[1].numbers[1], 1);
  EXPECT_TRUE(std::isnan(store.kernel_metrics[1].numbers[2]));
  EXPECT_EQ(Example(store, IssueKind::kCsvCellNotANumber),
            "kernel_details.csv:4: column 'numbers' is not a number: 'x'");
}

TEST(ReadKernelDetails, CountsCellsThatAreNotNumbers) {
  const TraceStore store =
      ReadKernels("", "k,t,c,soon,1,0\nk,t,c,1e400,1,0\nk,t,c,9223372036854775.807,1,0\n");
  EXPECT_THAT(store.kernels.begin_ns.span(), ElementsAre(kNone, kNone, kNone));
  EXPECT_EQ(Count(store, IssueKind::kCsvCellNotANumber), 3);
  EXPECT_EQ(Example(store, IssueKind::kCsvCellNotANumber),
            "kernel_details.csv:2: column 'Start Time(us)' is not a number: 'soon'");
}

TEST(ReadKernelDetails, CountsNegativeDurations) {
  const TraceStore store = ReadKernels("", "k,t,c,1,-0.5,0\n");
  EXPECT_THAT(store.kernels.dur_ns.span(), ElementsAre(0));
  EXPECT_EQ(Example(store, IssueKind::kNegativeDuration),
            "kernel_details.csv:2: column 'Duration(us)': '-0.5'");
}

TEST(ReadKernelDetails, SkipsShortRowsAndCutsLongOnes) {
  const TraceStore store = ReadKernels("", "short,t\nlong,t,c,1,1,0,7\nk,t,c,1,1,0\n");
  EXPECT_THAT(Texts(store, store.kernels.name), ElementsAre("long", "k"));
  EXPECT_EQ(Example(store, IssueKind::kCsvRowTooShort),
            "kernel_details.csv:2: 2 of 6 cells, the last one: 't'");
  EXPECT_EQ(Example(store, IssueKind::kCsvRowTooLong),
            "kernel_details.csv:3: more cells than the header has columns: '7'");
}

TEST(ReadKernelDetails, AFileWithoutRowsHasLostThem) {
  const Error error = ReadBad("kernel_details.csv", std::string(kShortHeader) + "\n");
  EXPECT_EQ(error.code, ErrorCode::kCorruptData);
  EXPECT_THAT(error.message,
              HasSubstr("kernel_details.csv: the file has column names and no rows"));
}

TEST(ReadKernelDetails, SkipsACutLastRow) {
  const TraceStore short_row = ReadKernels("", "k,t,c,1,1,0\nk,t,c,1");
  EXPECT_EQ(short_row.kernels.size(), 1);
  EXPECT_EQ(Count(short_row, IssueKind::kCsvTruncated), 1);
  const TraceStore open_quote = ReadKernels("", "k,t,c,1,1,\"0\n");
  EXPECT_EQ(open_quote.kernels.size(), 0);
  EXPECT_EQ(Count(open_quote, IssueKind::kCsvTruncated), 1);
  const TraceStore open = ReadKernels("", "k,t,c,1,1,0");
  EXPECT_EQ(open.kernels.size(), 1);
  EXPECT_EQ(Example(open, IssueKind::kCsvLastRowOpen),
            "kernel_details.csv:2: no line end behind the last cell: '0'");
}

TEST(ReadKernelDetails, ReadsMoreRowsThanFitInOneBlock) {
  constexpr int64_t kRows = 20000;
  std::string rows;
  for (int64_t i = 0; i < kRows; ++i) {
    rows += "kernel_" + std::to_string(i % 100) + ",\"a \"\"type\"\"\",c," + std::to_string(i) +
            ".5,1,";
    rows += i == 15000 ? "oops\n" : i == 16000 ? "0,too,long\n" : "0\n";
  }
  const TraceStore store = ReadKernels("", rows);
  ASSERT_EQ(store.kernels.size(), kRows);
  for (int64_t i = 0; i < kRows; ++i) {
    const auto row = store.kernels.Get(static_cast<size_t>(i));
    ASSERT_EQ(row.begin_ns, i * 1000 + 500);
    ASSERT_EQ(store.Text(row.name), "kernel_" + std::to_string(i % 100));
    ASSERT_EQ(store.Text(row.type), "a \"type\"");
  }
  EXPECT_EQ(Example(store, IssueKind::kCsvCellNotANumber),
            "kernel_details.csv:15002: column 'Wait Time(us)' is not a number: 'oops'");
  EXPECT_EQ(Example(store, IssueKind::kCsvRowTooLong),
            "kernel_details.csv:16002: more cells than the header has columns: 'too'");
}

TEST(ReadKernelDetails, NamesMissingColumns) {
  const TraceStore store =
      ReadText("kernel_details.csv", "Name,Type,Accelerator Core,Start Time(us)\nk,t,c,1\n");
  EXPECT_EQ(store.kernels.size(), 1);
  EXPECT_THAT(store.kernels.dur_ns.span(), ElementsAre(kNone));
  EXPECT_EQ(Count(store, IssueKind::kCsvColumnMissing), 2);
  EXPECT_EQ(Example(store, IssueKind::kCsvColumnMissing),
            "kernel_details.csv: no column 'Duration(us)' or 'Task Duration(us)'");
}

TEST(ReadKernelDetails, NamesColumnsMissingFromASetThatIsWrittenTogether) {
  const std::string row = "k,t,c,1,1,0";
  EXPECT_TRUE(ReadKernels("", row + "\n").issues.empty());
  const TraceStore ids = ReadKernels(",Task ID", row + ",7\n");
  EXPECT_EQ(Example(ids, IssueKind::kCsvColumnMissing),
            "kernel_details.csv: no column 'Stream ID'");
  const TraceStore tensors = ReadKernels(
      ",Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Formats",
      row + ",8,1,F,ND,1,ND\n");
  EXPECT_EQ(Count(tensors, IssueKind::kCsvColumnMissing), 1);
  EXPECT_EQ(Example(tensors, IssueKind::kCsvColumnMissing),
            "kernel_details.csv: no column 'Output Data Types'");
}

TEST(ReadOperatorMemory, ReleaseTimeIsMissedWhereActiveMemoryIsWritten) {
  const TraceStore exported = ReadText(
      "operator_memory.csv",
      "Device_id,Name,Size(KB),Allocation Time(us),Duration(us),Allocation Total Allocated(KB),"
      "Allocation Total Reserved(KB),Release Total Allocated(KB),Release Total "
      "Reserved(KB),Device\n"
      "0,a,1,1,1,1,1,1,1,NPU:0\n");
  EXPECT_TRUE(exported.issues.empty());
  const TraceStore framework = ReadText(
      "operator_memory.csv",
      "Name,Size(KB),Allocation Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
      "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),"
      "Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Device "
      "Type\n"
      "a,1,1,1,1,1,1,1,1,1,1,1,NPU:0\n");
  EXPECT_EQ(Count(framework, IssueKind::kCsvColumnMissing), 1);
  EXPECT_EQ(Example(framework, IssueKind::kCsvColumnMissing),
            "operator_memory.csv: no column 'Release Time(us)'");
}

TEST(ReadSheet, NamesMissingTaskColumns) {
  const TraceStore store =
      ReadText("l2_cache.csv", "Stream Id,Hit Rate,Victim Rate,Op Name\n2,N/A,0.5,k\n");
  EXPECT_EQ(Example(store, IssueKind::kCsvColumnMissing), "l2_cache.csv: no column 'Task Id'");
}

TEST(ReadKernelDetails, CountsTextThatIsNotUtf8) {
  const TraceStore store =
      ReadKernels("", "k\xFF,t,c,1,1,0\nk\xFF,\xE4\xBD\xA0 and more text,c,1,1,0\n");
  EXPECT_EQ(Count(store, IssueKind::kInvalidUtf8), 1);
  EXPECT_EQ(store.kernels.size(), 2);
  using namespace std::string_view_literals;
  EXPECT_EQ(Count(ReadKernels("", "k\0\0,t,c,1,1,0\n"sv), IssueKind::kInvalidUtf8), 1);
}

TEST(ReadKernelDetails, RefusesAFileWithoutHeader) {
  const Error empty = ReadBad("kernel_details.csv", "\r\n");
  EXPECT_EQ(empty.code, ErrorCode::kCorruptData);
  EXPECT_EQ(empty.message,
            "kernel_details.csv: the file is empty; a line of column names was expected");
  const Error foreign = ReadBad("kernel_details.csv", "a,b\n1,2\n");
  EXPECT_EQ(foreign.code, ErrorCode::kCorruptData);
  EXPECT_EQ(foreign.message,
            "kernel_details.csv: none of the expected columns is in the first line, which is: a,b");
}

TEST(ReadKernelDetails, CutAtAnyByteKeepsTheRowsBefore) {
  const TraceStore whole = ReadText("kernel_details.csv", kKernelDetails);
  const size_t header_end = kKernelDetails.find("\r\n") + 2;
  const size_t first_end = kKernelDetails.find("66.301\r\n");
  for (size_t size = 0; size < kKernelDetails.size(); ++size) {
    TraceStore store;
    const Status status = ReadBytes("kernel_details.csv", kKernelDetails.substr(0, size), store);
    const auto& kernels = store.kernels;
    kernels.ForEachColumn([&](auto name, auto, const auto& column) {
      EXPECT_EQ(column.size(), kernels.size()) << name << " cut at " << size;
    });
    for (const auto& metric : store.kernel_metrics) EXPECT_EQ(metric.size(), kernels.size());
    ASSERT_LE(kernels.size(), size < first_end ? 0 : 2) << size;
    for (size_t row = 0; row < kernels.size(); ++row) {
      EXPECT_EQ(kernels.begin_ns[row], whole.kernels.begin_ns[row]);
      EXPECT_EQ(kernels.dur_ns[row], whole.kernels.dur_ns[row]);
      EXPECT_EQ(store.Text(kernels.name[row]), whole.Text(whole.kernels.name[row]));
    }
    EXPECT_EQ(status.ok(), size > header_end) << size;
  }
}

TEST(ReadOperatorDetails, JoinsTheLinesOfShapesAndStacks) {
  const TraceStore store =
      ReadText("operator_details.csv",
               "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device "
               "Self Duration(us),"
               "Device Total Duration(us),Device Self Duration With AICore(us),Device Total "
               "Duration With AICore(us)\r\n"
               "aten::add,\"0;\r\n;\r\n\",\"a.py(1): f;\nb.py(2): g\",-1.5,145.57,0,8.25,0,0\r\n"
               "x,,\"two\nlines\",0,0,0,0,0,0\n");
  const auto& operators = store.operator_details;
  EXPECT_TRUE(store.issues.empty());
  EXPECT_THAT(Texts(store, operators.input_shapes), ElementsAre("0;;", ""));
  EXPECT_THAT(Texts(store, operators.call_stack),
              ElementsAre("a.py(1): f;b.py(2): g", "two\nlines"));
  EXPECT_THAT(operators.host_self_ns.span(), ElementsAre(-1500, 0));
  EXPECT_THAT(operators.host_total_ns.span(), ElementsAre(145570, 0));
  EXPECT_THAT(operators.device_total_ns.span(), ElementsAre(8250, 0));
}

TEST(ReadOperatorDetails, AcceptsTheTwoColumnsOfMindSpore) {
  const TraceStore store = ReadText("operator_details.csv", "Name,Input Shapes\nAdd,\"2,3\"\n");
  EXPECT_TRUE(store.issues.empty());
  EXPECT_THAT(Texts(store, store.operator_details.input_shapes), ElementsAre("2,3"));
  EXPECT_THAT(store.operator_details.host_total_ns.span(), ElementsAre(kNone));
}

TEST(ReadOperatorMemory, TurnsSizesIntoExactBytes) {
  const TraceStore store = ReadText(
      "operator_memory.csv",
      "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
      "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
      "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
      "Release Total Active(MB),Stream Ptr,Device Type\n"
      "aten::empty,0.5,1736408883702735.700\t,1736408883736793.940\t,,34058.240\t,,954.37060546875,"
      "1452.0,,,,,"
      "897357296,NPU:0\n"
      "aten::empty,1e300,1,N/A,,,,,,,,,,,NPU:0\n");
  const auto& blocks = store.allocations;
  EXPECT_THAT(blocks.size_bytes.span(), ElementsAre(512, kNone));
  EXPECT_THAT(blocks.alloc_total_allocated_bytes.span(), ElementsAre(1000730112, kNone));
  EXPECT_THAT(blocks.alloc_total_reserved_bytes.span(), ElementsAre(1452 * 1048576, kNone));
  EXPECT_THAT(blocks.release_ns.span(), ElementsAre(1736408883736793940, kNone));
  EXPECT_THAT(blocks.dur_ns.span(), ElementsAre(34058240, kNone));
  EXPECT_THAT(blocks.stream_ptr.span(), ElementsAre(897357296, kNone));
  EXPECT_THAT(Texts(store, blocks.device), ElementsAre("NPU:0", "NPU:0"));
  EXPECT_EQ(Count(store, IssueKind::kCsvCellNotANumber), 1);
}

TEST(ReadOperatorMemory, ReadsTheExportersKilobytes) {
  const TraceStore store = ReadText(
      "operator_memory_20260511093035.csv",
      "Device_id,Name,Size(KB),Allocation Time(us),Duration(us),Allocation Total Allocated(KB),"
      "Allocation Total Reserved(KB),Release Total Allocated(KB),Release Total "
      "Reserved(KB),Device\n"
      "0,Add,1,10,5,3,4,5,6,NPU:0\n");
  EXPECT_TRUE(store.issues.empty());
  EXPECT_THAT(store.allocations.alloc_total_allocated_bytes.span(), ElementsAre(3072));
  EXPECT_THAT(store.allocations.release_total_reserved_bytes.span(), ElementsAre(6144));
}

TEST(ReadMemoryRecord, ReadsOldAndNewColumns) {
  TraceStore store =
      ReadText("memory_record.csv",
               "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
               "Stream Ptr,Device Type\nAPP,1736408883573957.920\t,,2109.6015625,,,NPU:0\n");
  ASSERT_TRUE(
      ReadBytes("memory_record.csv",
                "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
                "PTA,2,1,2,NPU:1\n",
                store)
          .ok());
  EXPECT_TRUE(store.issues.empty());
  EXPECT_THAT(store.memory_samples.ts_ns.span(), ElementsAre(1736408883573957920, 2000));
  EXPECT_THAT(store.memory_samples.allocated_bytes.span(), ElementsAre(kNone, 1048576));
  EXPECT_THAT(store.memory_samples.reserved_bytes.span(), ElementsAre(2212077568, 2097152));
  EXPECT_THAT(store.memory_samples.active_bytes.span(), ElementsAre(kNone, kNone));
}

TEST(ReadMemoryRecord, TakesMindSporesMegabytesOf1000Kilobytes) {
  const TraceStore store =
      ReadText("memory_record.csv",
               "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
               "Device Type\nMindSpore,1.5\t,1.0,0.000125,0.5,NPU:0\n");
  EXPECT_THAT(store.memory_samples.allocated_bytes.span(), ElementsAre(1024000));
  EXPECT_THAT(store.memory_samples.reserved_bytes.span(), ElementsAre(128));
  EXPECT_THAT(store.memory_samples.active_bytes.span(), ElementsAre(512000));
}

TEST(ReadMemoryRecord, PyTorchsFileIsToldByItsComponentsWhereTheStreamsAreLost) {
  const TraceStore store =
      ReadText("memory_record.csv",
               "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
               "Device Type\nAPP,1.5\t,,1,,NPU:0\nGE,2\t,1,1,,NPU:0\nPTA+GE,2\t,1,1,1,NPU:0\n");
  EXPECT_THAT(store.memory_samples.reserved_bytes.span(), ElementsAre(1048576, 1048576, 1048576));
  EXPECT_EQ(store.issues.entry(IssueKind::kCsvColumnMissing).example,
            "memory_record.csv: no column 'Stream Ptr'");
}

TEST(ReadModuleMemory, KeepsTheNegativeSizeOfAnIdleModule) {
  const TraceStore store = ReadText(
      "npu_module_mem.csv",
      "Component,Timestamp(us),Total Reserved(MB),Device\nSLOG,1.5\t,-0.0009765625,NPU:0\n");
  EXPECT_THAT(store.module_memory.reserved_bytes.span(), ElementsAre(-1024));
  EXPECT_THAT(store.module_memory.ts_ns.span(), ElementsAre(1500));
}

TEST(ReadStepTrace, StepAndDeviceMayBeAbsent) {
  constexpr std::string_view kColumns =
      "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
      "Communication(Not Overlapped and Exclude Receive)";
  const std::string text = std::string(kColumns) + "\n,8873.756000000001,1,2,3,4,5,0,7\n";
  const TraceStore store = ReadText("step_trace_time.csv", text);
  EXPECT_TRUE(store.issues.empty());
  EXPECT_THAT(store.step_traces.step.span(), ElementsAre(kNone));
  EXPECT_THAT(store.step_traces.computing_us.span(), ElementsAre(8873.756000000001));
  EXPECT_THAT(store.step_traces.comm_exclude_receive_us.span(), ElementsAre(7));
  EXPECT_TRUE(std::isnan(store.step_traces.preparing_us[0]));
}

TEST(ReadStatistics, ReadBothGenerations) {
  TraceStore store = ReadText("op_statistic_20260511093035.csv",
                              "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg "
                              "Time(us),Max Time(us),Ratio(%)\n"
                              "0,Cast,AI_VECTOR_CORE,2,6.24,1.98,3.12,4.26,15.368\n");
  ASSERT_TRUE(ReadBytes("api_statistic.csv",
                        "Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
                        "acl,Cast_Tiling,95.45,2,47.725,41.84,53.61,34.633\n",
                        store)
                  .ok());
  EXPECT_TRUE(store.issues.empty());
  EXPECT_THAT(store.op_statistics.count.span(), ElementsAre(2));
  EXPECT_THAT(store.op_statistics.ratio_percent.span(), ElementsAre(15.368));
  EXPECT_THAT(Texts(store, store.api_statistics.device), ElementsAre(""));
  EXPECT_THAT(store.api_statistics.variance.span(), ElementsAre(34.633));
}

TEST(ReadSheet, TypesAColumnByAllItsCells) {
  const TraceStore store = ReadText("l2_cache_20260511093035.csv",
                                    "Task Id,Hit Rate,Op Name,Mixed\n1,N/A,Add,1\n2,0.5\t,,x\n");
  ASSERT_EQ(store.sheets.size(), 1);
  const auto& sheet = store.sheets[0];
  EXPECT_EQ(sheet.name, "l2_cache");
  ASSERT_EQ(sheet.columns.size(), 4);
  EXPECT_THAT(sheet.columns[0].numbers.span(), ElementsAre(1, 2));
  EXPECT_TRUE(std::isnan(sheet.columns[1].numbers[0]));
  EXPECT_EQ(sheet.columns[1].numbers[1], 0.5);
  EXPECT_THAT(Texts(store, sheet.columns[2].texts), ElementsAre("Add", ""));
  EXPECT_THAT(Texts(store, sheet.columns[3].texts), ElementsAre("1", "x"));
}

TEST(ReadSheet, CountsTextsAmongNumbers) {
  const TraceStore store =
      ReadText("l2_cache.csv",
               "Task Id,Hit Rate,Op Name\n1,0.5,Add\n2,nan,Mul\n3,N/A,7\n?,0.25,8\n5,,Sub\n");
  const auto& sheet = store.sheets[0];
  EXPECT_EQ(Count(store, IssueKind::kCsvCellNotANumber), 2);
  EXPECT_EQ(store.issues.entry(IssueKind::kCsvCellNotANumber).example,
            "l2_cache.csv:5: column 'Task Id' is not a number: '?'");
  ASSERT_FALSE(sheet.columns[0].is_text());
  EXPECT_TRUE(std::isnan(sheet.columns[0].numbers[3]));
  EXPECT_EQ(sheet.columns[0].numbers[4], 5);
  EXPECT_FALSE(sheet.columns[1].is_text());
  EXPECT_TRUE(sheet.columns[2].is_text());
}

TEST(ReadSheet, GarbageIsNoSheet) {
  EXPECT_THAT(ReadBad("l2_cache.csv", "garbage\n1\n").message,
              HasSubstr("no column 'Op Name' in the first line, which is: garbage"));
  EXPECT_THAT(ReadBad("nic.csv", "a\x01,b\n1,2\n").message,
              HasSubstr("a line of column names was"));
  EXPECT_THAT(ReadBad("nic.csv", "a\xff,b\n1,2\n").message,
              HasSubstr("a line of column names was"));
}

TEST(ReadSheet, CountsBadRowsOnce) {
  const TraceStore store = ReadText("nic.csv", "a,b\n1\n1,2\n");
  EXPECT_EQ(store.sheets[0].size(), 1);
  EXPECT_EQ(Count(store, IssueKind::kCsvRowTooShort), 1);
}

TEST(ReadTextFile, StopsWhenCancelled) {
  RequestCancel();
  const Error error = ReadBad("kernel_details.csv", kKernelDetails);
  ClearCancel();
  EXPECT_EQ(error.code, ErrorCode::kCancelled);
  EXPECT_THAT(error.message, HasSubstr("kernel_details.csv"));
}

TEST(ReadTextFile, SaysWhichFileIsMissing) {
  ThreadPool pool(1);
  TraceStore store;
  const Status status = ReadTextFile(TextFileKind::kSheet, "/no/such/nic.csv", {&pool}, store);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(status.error().message, HasSubstr("/no/such/nic.csv"));
}

}  // namespace
}  // namespace steplens::readers
