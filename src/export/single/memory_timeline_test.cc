#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"
#include "base/file.h"
#include "base/testing/scratch_folder.h"
#include "export/export.h"
#include "export/single/memory_categories.h"
#include "export/single/tensor_text.h"

namespace steplens::exporting {
namespace {

using Category = MemoryCategory;

TEST(ParseTensors, ReadsStorageAndSizeOfEach) {
  const auto tensors = ParseTensors(
      "0x1;0x7f00;float;4;2,3;3,1;20;0)0x2;;None;0;;;20;0)0x3;0x10;c10::Half;2;;;20;0)");
  ASSERT_EQ(tensors.size(), 2u);  // the second has no storage
  EXPECT_EQ(tensors[0].storage, 0x7f00);
  EXPECT_EQ(tensors[0].size_bytes, 24);
  EXPECT_EQ(tensors[1].size_bytes, 2);
}

TEST(ParseTensors, SurvivesAnything) {
  EXPECT_TRUE(ParseTensors(";;;;;;;)}0xzz;0xzz;;;;;;)").empty());
  EXPECT_TRUE(ParseTensors("").empty());
}

TEST(ParseOptimizerParameters, ReadsStates) {
  RecordedParameters found;
  ParseOptimizerParameters(
      "0x1;0x100;float;4;2;1;20;0)0x2;0x200;float;4;2;1;20;0)exp_avg>0x3;0x300;float;4;2;1;20;0]",
      found);
  ASSERT_EQ(found.parameters.size(), 1u);
  ASSERT_EQ(found.gradients.size(), 1u);
  ASSERT_EQ(found.states.size(), 1u);
  EXPECT_EQ(found.states[0].storage, 0x300);
}

// y = f(x, w); loss' gives g; w -= g. Blocks: 0 x, 1 w, 2 y, 3 detail of the backward pass, 4 g.
TEST(CategoriseMemory, FollowsOneTrainingStep) {
  MemoryGraph graph;
  graph.blocks.resize(6);
  graph.nodes = {{10, 20, false, {0, 1}, {2}},
                 {30, 40, true, {2}, {3}},
                 {41, 50, true, {2, 3}, {4}},
                 {60, 70, false, {1, 4}, {1}}};
  graph.gradients = {4};
  graph.temporary = {5};
  const std::vector<Category> found = CategoriseMemory(graph);
  EXPECT_EQ(found, (std::vector<Category>{Category::kInput, Category::kParameter,
                                          Category::kActivation, Category::kAutogradDetail,
                                          Category::kGradient, Category::kTemporary}));
}

TEST(CategoriseMemory, KnowsNothingOfBlocksNobodyTouches) {
  MemoryGraph graph;
  graph.blocks.resize(1);
  EXPECT_EQ(CategoriseMemory(graph), std::vector<Category>{Category::kUnknown});
}

// A step as the recorder sees it: tensors by their addresses, one operator a pass.
class RecordedStep : public analysis::StoreBuilder {
 public:
  RecordedStep() {
    thread_ = Thread(Process("Python", "CPU", "1"), "Thread 1");
    sheet_.name = "framework_tensors";
    for (const char* column : {"Slice", "Input Tensors", "Tensor Lists", "Scalars"})
      sheet_.columns.emplace_back().name = column;
  }
  void Op(std::string_view name, int64_t begin_ns, int64_t end_ns, const std::string& tensors,
          int64_t fwd_thread = 0) {
    const store::SliceId slice = Slice(thread_, begin_ns, end_ns, name, "cpu_op");
    store.host_ops.Append({.slice = slice, .sequence_number = 1, .fwd_thread = fwd_thread});
    sheet_.columns[0].numbers.Append(static_cast<double>(static_cast<uint32_t>(slice)));
    sheet_.columns[1].texts.Append(Text(tensors));
    sheet_.columns[2].texts.Append(Text(""));
    sheet_.columns[3].texts.Append(Text(""));
  }
  void Block(int64_t address, int64_t alloc_ns, int64_t release_ns = store::kNone) {
    store.allocations.Append({.size_bytes = 8,
                              .alloc_ns = alloc_ns,
                              .release_ns = release_ns,
                              .device = Text("NPU:0"),
                              .address = address});
  }
  static std::string Tensor(std::string_view storage) {
    return "0x1;" + std::string(storage) + ";float;4;2;1;20;0)";
  }
  MemoryGraph Graph() {
    store.sheets.push_back(std::move(sheet_));
    return BuildMemoryGraph(store, "npu:0");
  }

 private:
  store::TrackId thread_;
  store::DynamicTable sheet_;
};

TEST(BuildMemoryGraph, FollowsTensorsThroughAStep) {
  RecordedStep b;
  b.Op("ProfilerStep#1", 0, 1000, "");
  b.Block(0x100, 5);  // x
  b.Op("aten::mm", 10, 20, RecordedStep::Tensor("0x100") + RecordedStep::Tensor("0x200"));
  b.Block(0x300, 12);      // y
  b.Block(0x400, 13, 15);  // a scratch block
  b.Op("MmBackward0", 30, 40, RecordedStep::Tensor("0x300"), 1);
  b.Block(0x500, 35);  // the gradient of w
  b.Op("torch::autograd::AccumulateGrad", 41, 50, RecordedStep::Tensor("0x500"), 1);
  b.Op("aten::detach", 42, 45, RecordedStep::Tensor("0x500"), 1);
  b.Op("aten::add_", 60, 70, RecordedStep::Tensor("0x200") + RecordedStep::Tensor("0x500"));
  const MemoryGraph graph = b.Graph();
  ASSERT_EQ(graph.blocks.size(), 5u);  // w was there before
  EXPECT_EQ(graph.blocks[4].address, 0x200);
  EXPECT_EQ(graph.blocks[4].alloc_ns, store::kNone);
  EXPECT_EQ(graph.blocks[4].size_bytes, 8);
  const std::vector<Category> found = CategoriseMemory(graph);
  EXPECT_EQ(found,
            (std::vector<Category>{Category::kInput, Category::kActivation, Category::kTemporary,
                                   Category::kGradient, Category::kParameter}));
}

TEST(WriteMemoryTimeline, WritingABlockIsANewVersionOfItAndChangesNoSum) {
  RecordedStep b;
  b.Block(0x100, 5000);
  b.Op("aten::mul_", 10000, 20000, RecordedStep::Tensor("0x100"));
  b.Op("aten::zeros", 30000, 40000, "");
  b.Block(0x200, 32000);  // made and filled inside one operator
  b.Op("aten::zero_", 35000, 36000, RecordedStep::Tensor("0x200"));
  b.Graph();
  ScratchFolder folder;
  ASSERT_TRUE(WriteMemoryTimeline(b.store, "npu:0", folder.path() + "/m.json").ok());
  EXPECT_EQ(folder.Read("m.json"),
            "[[5.0, 10.0, 32.0], [[0, 0, 0, 0, 0, 0, 0, 0, 8], [0, 0, 0, 0, 0, 0, 0, 0, 8], "
            "[0, 0, 0, 0, 0, 0, 0, 0, 16]]]");
}

class Blocks : public analysis::StoreBuilder {
 public:
  Blocks() {
    store.allocations.Append(
        {.size_bytes = 100, .alloc_ns = 1000, .release_ns = 3000, .device = Text("NPU:0")});
    store.allocations.Append({.size_bytes = 50, .alloc_ns = 2000, .device = Text("NPU:0")});
    store.allocations.Append({.size_bytes = 7, .alloc_ns = 2500, .device = Text("CPU")});
  }
};

TEST(WriteMemoryTimeline, SumsUpByTimeAndCategory) {
  Blocks b;
  ScratchFolder folder;
  ASSERT_TRUE(WriteMemoryTimeline(b.store, "npu:0", folder.path() + "/m.json").ok());
  EXPECT_EQ(folder.Read("m.json"),
            "[[1.0, 2.0, 3.0], [[0, 0, 0, 0, 0, 0, 0, 0, 100], [0, 0, 0, 0, 0, 0, 0, 0, 150], "
            "[0, 0, 0, 0, 0, 0, 0, 0, 50]]]");
}

TEST(WriteMemoryTimeline, RawFormListsActions) {
  Blocks b;
  ScratchFolder folder;
  const std::string path = folder.path() + "/m.raw.json.gz";
  ASSERT_TRUE(WriteMemoryTimeline(b.store, "npu:0", path).ok());
  auto source = OpenByteSource(path);
  ASSERT_TRUE(source.ok());
  std::string text(200, '\0');
  const auto got = (*source)->Read(text.data(), text.size());
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(text.substr(0, *got), "[[1.0, 1, 100, 7], [2.0, 1, 50, 7], [3.0, 3, 100, 7]]");
}

TEST(WriteMemoryTimeline, PageHasAPlot) {
  Blocks b;
  ScratchFolder folder;
  ASSERT_TRUE(WriteMemoryTimeline(b.store, "cpu", folder.path() + "/m.html").ok());
  const std::string page = folder.Read("m.html");
  EXPECT_NE(page.find("<svg"), page.npos);
  EXPECT_NE(page.find("Peak 7 B"), page.npos);
}

TEST(WriteMemoryTimeline, RefusesOtherNamesAndDevices) {
  Blocks b;
  EXPECT_EQ(WriteMemoryTimeline(b.store, "npu:0", "/tmp/m.txt").error().message,
            "/tmp/m.txt: a memory timeline is .html, .json, .json.gz or raw.json.gz");
  EXPECT_EQ(WriteMemoryTimeline(b.store, "npu:5", "/tmp/m.json").error().message,
            "no allocations on device 'npu:5' were recorded; is profile_memory on?");
}

}  // namespace
}  // namespace steplens::exporting
