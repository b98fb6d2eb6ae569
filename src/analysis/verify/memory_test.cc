#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

struct Memory : TestStore {
  Memory() {
    Sample("APP", 5, store::kNone, 900, store::kNone);
    Sample("PTA", 10, 100, 200, 90);
    Sample("PTA+GE", 10, 100, 200, 90);
    Sample("GE", 20, 7, 8, store::kNone);
    Sample("PTA+GE", 20, 107, 208, 90);
    Sample("WORKSPACE", 25, 3, 3, 3);
    Sample("PTA", 30, 150, 200, 140);
    Sample("PTA+GE", 30, 157, 208, 140);
    store.allocations.Append({.name = Text("aten::empty"),
                              .alloc_ns = 30,
                              .release_ns = 80,
                              .active_release_ns = 70,
                              .dur_ns = 50,
                              .active_dur_ns = 40,
                              .alloc_total_allocated_bytes = 150,
                              .stream_ptr = 1});
    store.allocations.Append({.name = Text("cann::Cast"),
                              .alloc_ns = 20,
                              .release_ns = 30,
                              .dur_ns = 10,
                              .alloc_total_allocated_bytes = 7});
  }

  void Sample(std::string_view component, int64_t ts_ns, int64_t allocated, int64_t reserved,
              int64_t active) {
    store.memory_samples.Append({.component = Text(component),
                                 .ts_ns = ts_ns,
                                 .allocated_bytes = allocated,
                                 .reserved_bytes = reserved,
                                 .active_bytes = active,
                                 .device = Text("NPU:0")});
  }
};

TEST(VerifyMemorySums, FollowEachRow) { ExpectHolds(Memory().Run("14"), "3 sums"); }

TEST(VerifyMemorySums, ReportsAWrongSum) {
  Memory s;
  s.store.memory_samples.allocated_bytes.Set(4, 117);
  ExpectBroken(
      s.Run("14"), "1 of 3 sums",
      "memory_record row 5: allocated 117, reserved 208, active 90 bytes, expected allocated "
      "107, reserved 208, active 90 bytes");
}

TEST(VerifyMemorySums, ReportsAMissingSum) {
  Memory s;
  s.Sample("PTA", 40, 1, 1, 1);
  ExpectBroken(s.Run("14"), "1 of 4 sums", "memory_record row 9: no PTA+GE row follows");
}

TEST(VerifyMemorySums, ReportsASumOfAnotherTime) {
  Memory s;
  s.store.memory_samples.ts_ns.Set(7, 31);
  ExpectBroken(
      s.Run("14"), "1 of 3 sums",
      "memory_record row 8: allocated 157, reserved 208, active 140 bytes, expected allocated "
      "157, reserved 208, active 140 bytes after a PTA or GE row of its time");
}

TEST(VerifyMemorySums, KeepDevicesApart) {
  Memory s;
  s.Sample("PTA", 40, 10, 10, 10);
  s.Sample("PTA+GE", 40, 10, 10, 10);
  for (const size_t row : {size_t{8}, size_t{9}})
    s.store.memory_samples.device.Set(row, s.Text("NPU:1"));
  ExpectHolds(s.Run("14"), "4 sums");
}

TEST(VerifyMemorySums, NeedSumRows) {
  ExpectNotApplicable(TestStore().Run("14"), "no PTA+GE rows in memory_record");
}

TEST(VerifyAllocationTotals, AreInMemoryRecord) {
  Memory s;
  ExpectHolds(s.Run("14.allocations"), "1 allocations");
  s.store.allocations.alloc_total_allocated_bytes.Set(0, 200);
  ExpectBroken(
      s.Run("14.allocations"), "1 of 1 allocations",
      "operator_memory row 1 (aten::empty): no PTA row at 0.030 us with 200 bytes allocated");
}

TEST(VerifyAllocationTotals, KnowCannRowsOfADbByTheMissingStream) {
  Memory s;
  s.store.info.format = store::Format::kDb;
  s.store.allocations.name.Set(1, s.Text("Cast"));
  ExpectHolds(s.Run("14.allocations"), "1 allocations");
}

TEST(VerifyAllocationDurations, AreReleaseMinusAllocation) {
  Memory s;
  ExpectHolds(s.Run("14.duration"), "3 durations");
  s.store.allocations.active_dur_ns.Set(0, 41);
  ExpectBroken(
      s.Run("14.duration"), "1 of 3 durations",
      "operator_memory row 1 (aten::empty): Active Duration is 0.041 us, allocated at 0.030 us, "
      "released at 0.070 us");
}

// Two allocations of 50 bytes and the release of the first.
struct Balance : Memory {
  Balance() {
    Sample("PTA", 40, 200, 200, 140);
    Sample("PTA", 80, 150, 200, 140);
    store.allocations.size_bytes.Set(0, 50);
    store.allocations.Append({.name = Text(""), .size_bytes = 50, .alloc_ns = 40, .stream_ptr = 1});
  }
};

TEST(VerifyAllocationBalance, EveryRiseIsAnAllocation) {
  ExpectHolds(Balance().Run("14.balance"), "2 allocations");
}

TEST(VerifyAllocationBalance, ReportsAMissingAllocationAndAWrongSize) {
  Balance s;
  s.Sample("PTA", 90, 160, 200, 140);
  ExpectBroken(s.Run("14.balance"), "1 of 3 allocations",
               "memory_record row 11: 10 more bytes at 0.090 us, no such allocation in "
               "operator_memory");
  Balance wrong;
  wrong.store.allocations.size_bytes.Set(0, 50 * 1024);
  EXPECT_EQ(wrong.Run("14.balance").state, CheckState::kBroken);
}

TEST(VerifyModuleSamples, EverySampleHasAllComponents) {
  TestStore s;
  for (const int64_t ts_ns : {10, 20}) {
    s.store.module_memory.Append({s.Text("HCCL"), ts_ns, 1, s.Text("NPU:0")});
    s.store.module_memory.Append({s.Text("GE"), ts_ns, 1, s.Text("NPU:0")});
  }
  ExpectHolds(s.Run("memory.modules"), "2 samples");
  s.store.module_memory.Append({s.Text("GE"), 30, 1, s.Text("NPU:0")});
  ExpectBroken(s.Run("memory.modules"), "1 of 3 samples",
               "npu_module_mem: 1 components at 0.030 us, expected 2");
}

}  // namespace
}  // namespace steplens::analysis::verify
