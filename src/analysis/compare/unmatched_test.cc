#include "analysis/compare/unmatched.h"

#include <gtest/gtest.h>

namespace steplens::analysis::compare {
namespace {

CollectiveTotals Collective(std::string name, int64_t count, int64_t total_ns) {
  CollectiveTotals out;
  out.name = std::move(name);
  out.ops.count = count;
  out.ops.total_ns = total_ns;
  return out;
}

TEST(Unmatched, HasWhatOneSideAloneHas) {
  std::vector<Unmatched> rows;
  AddUnmatchedCollectives({Collective("allreduce", 4, 8'000'000), Collective("send", 2, 500'000)},
                          {Collective("allreduce", 1, 2'000'000), Collective("recv", 3, 700'000)},
                          rows);
  ASSERT_EQ(rows.size(), 2u);
  const ResultSheet sheet = UnmatchedSheet(rows);
  const auto& columns = sheet.table.columns();
  EXPECT_EQ(columns[2].texts[0], "recv") << "the longest first";
  EXPECT_EQ(columns[3].ints[0], table::kNull) << "the base has none";
  EXPECT_EQ(columns[5].ints[0], 3);
  EXPECT_DOUBLE_EQ(columns[6].doubles[0], 0.7);
  EXPECT_EQ(columns[2].texts[1], "send");
  EXPECT_EQ(columns[3].ints[1], 2);
  EXPECT_EQ(columns[5].ints[1], table::kNull);
}

TEST(Unmatched, KernelsAreKnownByTypeAndShapes) {
  std::vector<Unmatched> rows;
  AddUnmatchedKernels({{.kernel = "MatMulV2", .detail = "8,16", .total_us = 12.5, .count = 2}},
                      {{.kernel = "MatMulV2", .detail = "8,32", .total_us = 20, .count = 1}}, rows);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "MatMulV2 8,16");
  EXPECT_EQ(rows[0].base.device_ns, 12'500);
  EXPECT_EQ(rows[1].comparison.calls, 1);
}

}  // namespace
}  // namespace steplens::analysis::compare
