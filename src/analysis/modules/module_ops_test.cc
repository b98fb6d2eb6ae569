#include "analysis/modules/module_ops.h"

#include <gtest/gtest.h>

#include "analysis/modules/slice_modules.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

// A host thread with modules and operators, and a stream on which they launch kernels.
class Model {
 public:
  void Module(std::string_view name, int64_t begin_ns, int64_t end_ns) {
    const store::SliceId slice = b_.Slice(marks_, begin_ns, end_ns, name);
    b_.store.markers.Append({.slice = slice, .event_type = 2, .domain = b_.Text("Module")});
  }
  // An operator of 10 ns whose kernel takes as long as given; 0: it launches none.
  void Op(std::string_view name, int64_t begin_ns, int64_t kernel_ns,
          std::string_view kernel = "MatMul_k") {
    b_.Slice(host_, begin_ns, begin_ns + 10, name, "cpu_op");
    if (kernel_ns == 0) return;
    b_.Slice(stream_, begin_ns + 1000, begin_ns + 1000 + kernel_ns, kernel, "AI_CORE");
    b_.Flow("async_npu", host_, begin_ns, stream_, begin_ns + 1000);
  }
  void Pair(int64_t forward_ns, int64_t backward_ns) {
    b_.Flow("fwdbwd", host_, forward_ns, host_, backward_ns);
  }
  const store::TraceStore& store() const { return b_.store; }
  StoreBuilder& builder() { return b_; }
  store::TrackId host() const { return host_; }

 private:
  StoreBuilder b_;
  store::TrackId host_ = b_.ThreadOf("Python", "main");
  store::TrackId marks_ = b_.ThreadOf("MSTX", "main");
  store::TrackId stream_ = b_.ThreadOf("Ascend Hardware", "Stream 2");
};

TEST(SummarizeModules, GivesAnOperatorToTheInnermostModule) {
  Model model;
  model.Module("Net", 0, 500);
  model.Module("MLP", 100, 200);
  model.Op("aten::mm", 120, 30);
  model.Op("aten::add", 300, 5, "Add_k");
  model.Op("aten::outside", 900, 7, "Out_k");
  const std::vector<ModuleOp> rows = SummarizeModules(model.store(), true);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].parent, "Net");
  EXPECT_EQ(rows[0].module, "MLP");
  EXPECT_EQ(rows[0].op, "aten::mm");
  EXPECT_EQ(rows[0].total_ns, 30);
  EXPECT_EQ(rows[1].parent, "");
  EXPECT_EQ(rows[1].module, "Net");
}

TEST(SummarizeModules, AddsUpCallsWithTheSameOperators) {
  Model model;
  model.Module("MLP", 100, 200);
  model.Op("aten::mm", 120, 30);
  model.Module("MLP", 300, 400);
  model.Op("aten::mm", 320, 50);
  const std::vector<ModuleOp> rows = SummarizeModules(model.store(), true);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count(), 2);
  EXPECT_EQ(rows[0].total_ns, 80);
}

TEST(SummarizeModules, NumbersCallsWithOtherOperators) {
  Model model;
  model.Module("MLP", 100, 200);
  model.Op("aten::mm", 120, 30);
  model.Module("MLP", 300, 400);
  model.Op("aten::add", 320, 50);
  const std::vector<ModuleOp> rows = SummarizeModules(model.store(), true);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].module, "MLP_0");
  EXPECT_EQ(rows[1].module, "MLP_1");
}

TEST(SummarizeModules, FindsTheBackwardPassByItsOperators) {
  Model model;
  model.Module("Net", 0, 500);
  model.Module("MLP", 100, 200);
  model.Op("aten::mm", 120, 30);
  model.builder().Slice(model.host(), 600, 700, "MmBackward0", "cpu_op");
  model.Op("aten::mm", 620, 60);
  model.Pair(120, 600);
  const std::vector<ModuleOp> rows = SummarizeModules(model.store(), true);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].parent, "Net");
  EXPECT_EQ(rows[1].module, "[Backward]MLP");
  EXPECT_EQ(rows[1].total_ns, 60);
}

TEST(SummarizeModules, LeavesOutTasksThatAreNoKernels) {
  Model model;
  model.Module("MLP", 100, 200);
  model.Op("aten::copy_", 120, 30, "MEMCPY_ASYNC");
  EXPECT_TRUE(SummarizeModules(model.store(), true).empty());
}

TEST(FindModules, TakesPythonModulesOnlyWhereNoneAreMarked) {
  StoreBuilder b;
  const store::TrackId host = b.ThreadOf("Python", "main");
  b.Slice(host, 10, 20, "nn.Module: Linear_0", "python_function");
  EXPECT_TRUE(FindModules(b.store, /*only_marked=*/true).empty());
  const std::vector<ModuleRange> modules = FindModules(b.store, /*only_marked=*/false);
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].name, "Linear_0");
  EXPECT_EQ(modules[0].end_ns, 20);
}

TEST(FindSliceModules, DeviceWorkBelongsWhereItWasLaunchedAndHostWorkWhereItRan) {
  Model model;
  model.Module("Net", 0, 500);     // slice 0
  model.Module("MLP", 100, 200);   // 1
  model.Op("aten::mm", 120, 30);   // 2 and its kernel 3
  model.Op("aten::add", 300, 5);   // 4 and 5
  model.Op("aten::zero", 900, 5);  // 6 and 7: outside
  const SliceModules found = FindSliceModules(model.store());
  EXPECT_EQ(found.paths, (std::vector<std::string>{"Net", "Net/MLP"}));
  EXPECT_EQ(found.of_slice, (std::vector<uint8_t>{0, 0, 2, 2, 1, 1, 0, 0}));
}

TEST(FindSliceModules, LeavesOutTheInnermostModulesWhereThereAreTooMany) {
  Model model;
  model.Module("Net", 0, 1'000'000);
  for (int64_t i = 0; i < 300; ++i) {
    model.Module("Layer_" + std::to_string(i % 20), i * 1000, i * 1000 + 900);
    model.Module("MLP_" + std::to_string(i), i * 1000 + 10, i * 1000 + 800);
    model.Op("aten::mm", i * 1000 + 100, 30);
  }
  const SliceModules found = FindSliceModules(model.store());
  ASSERT_EQ(found.paths.size(), 21u);  // Net and its layers
  EXPECT_EQ(found.paths[1], "Net/Layer_0");
  EXPECT_EQ(found.of_slice[3], 2);
}

TEST(FindSliceModules, WithoutModulesNothingIsSaid) {
  Model model;
  model.Op("aten::mm", 120, 30);
  const SliceModules found = FindSliceModules(model.store());
  EXPECT_TRUE(found.paths.empty());
  EXPECT_EQ(found.of_slice, (std::vector<uint8_t>{0, 0}));
}

TEST(SummarizeModules, EmptyStoreHasNoRows) {
  EXPECT_TRUE(SummarizeModules(store::TraceStore(), false).empty());
}

}  // namespace
}  // namespace steplens::analysis
