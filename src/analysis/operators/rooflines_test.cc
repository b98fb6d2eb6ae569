#include "analysis/operators/rooflines.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/gpu_rank.h"

namespace steplens::analysis {
namespace {

constexpr const char* kSquare = "[[1000, 1000], [1000, 1000]]";

TEST(CollectCostedOps, TakesTheInnermost) {
  GpuRank b;
  b.Op("aten::matmul", 10, 20, kSquare, false);
  b.Op("aten::mm", 11, 19, kSquare, true);
  b.Op("aten::add", 30, 40, kSquare, true);
  b.Op("aten::mm", 50, 60, kSquare, false);  // did nothing on the device
  const auto ops = CollectCostedOps(b.store);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].slice, store::SliceId{1});
  EXPECT_EQ(ops[0].device_ns, 1'000'000);
  EXPECT_EQ(ops[0].cost.flops, 2e9);
}

TEST(CollectCostedOps, TakesTheOuterWhereTheInnerSaysTooLittle) {
  GpuRank b;
  b.Op("aten::matmul", 10, 20, kSquare, false);
  b.Op("aten::mm", 11, 19, "[]", true);
  const auto ops = CollectCostedOps(b.store);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].slice, store::SliceId{0});
}

std::string CellOf(const table::Table& table, std::string_view column, size_t row) {
  const table::Column* const found = table.Find(column);
  return found == nullptr ? "no column" : table::CellText(*found, row);
}

// Two products of 2 GFLOP and 6 MB in 1 ms each: 2 TFLOP/s, 6 GB/s. 333 FLOPs per byte are more
// than the 215 (149.7 / 0.696) at which an A40 becomes bound by computing.
TEST(OperatorRooflines, AddsUpEqualCalls) {
  GpuRank b;
  b.Device("NVIDIA A40");
  b.Op("aten::mm", 10, 20, kSquare, true);
  b.Op("aten::mm", 30, 40, kSquare, true);
  b.Op("aten::mm", 50, 60, "[[1000, 10], [10, 1000]]", true);
  const table::Table table = OperatorRooflines(b.Job());
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(CellOf(table, "Name", 0), "aten::mm");
  EXPECT_EQ(CellOf(table, "Input Shapes", 0), kSquare);
  EXPECT_EQ(CellOf(table, "Count", 0), "2");
  EXPECT_EQ(CellOf(table, "FLOPs", 0), "4e+09");
  EXPECT_EQ(CellOf(table, "Bytes", 0), "1.2e+07");
  EXPECT_EQ(CellOf(table, "TFLOP/s", 0), "2");
  EXPECT_EQ(CellOf(table, "GB/s", 0), "6");
  EXPECT_EQ(CellOf(table, "FLOPs per Byte", 0), "333.3333333333333");
  EXPECT_EQ(CellOf(table, "Bound", 0), "compute");
  EXPECT_EQ(CellOf(table, "Roofline(%)", 0), "1.3360053440213762");  // 2 / 149.7
  // 20 MFLOP and 2.04 MB in 1 ms: 9.8 FLOPs per byte.
  EXPECT_EQ(CellOf(table, "Bound", 1), "memory");
  EXPECT_EQ(CellOf(table, "Roofline(%)", 1), "0.2931034482758621");  // 2.04 GB/s of 696
}

TEST(OperatorRooflines, BoundIsUnknownOfAnUnknownDevice) {
  GpuRank b;
  b.Op("aten::mm", 10, 20, kSquare, true);
  const table::Table table = OperatorRooflines(b.Job());
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(CellOf(table, "TFLOP/s", 0), "2");
  EXPECT_EQ(CellOf(table, "Bound", 0), "");
  EXPECT_EQ(CellOf(table, "Roofline(%)", 0), "");
}

}  // namespace
}  // namespace steplens::analysis
