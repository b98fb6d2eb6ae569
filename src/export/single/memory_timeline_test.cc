#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"
#include "base/file.h"
#include "export/export.h"
#include "export/single/memory_categories.h"
#include "export/single/tensor_text.h"
#include "export/testing/scratch_folder.h"

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
