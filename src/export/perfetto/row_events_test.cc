#include "export/perfetto/row_events.h"

#include <gtest/gtest.h>

#include <string>

namespace steplens::exporting {
namespace {

// What happens to slices in drawing order: "+row@time" and "-row@time".
std::string Played(const std::vector<std::pair<int64_t, int64_t>>& slices) {
  std::string out;
  const auto say = [&out](char what, size_t row, int64_t ts_ns) {
    out += what + std::to_string(row) + "@" + std::to_string(ts_ns) + " ";
  };
  RowEvents events([&](size_t row, int64_t ts_ns) { say('-', row, ts_ns); });
  for (const auto& [begin_ns, end_ns] : slices)
    events.Add(begin_ns, end_ns, [&](size_t row, int64_t ts_ns) { say('+', row, ts_ns); });
  events.Finish();
  return out;
}

TEST(RowEvents, NestsWhatLiesInside) {
  EXPECT_EQ(Played({{0, 10}, {2, 5}, {5, 10}}), "+0@0 +0@2 -0@5 +0@5 -0@10 -0@10 ");
}

TEST(RowEvents, PutsPartlyOverlappingSlicesIntoRowsOfTheirOwn) {
  EXPECT_EQ(Played({{0, 10}, {5, 15}, {6, 9}, {12, 14}}),
            "+0@0 +1@5 +0@6 -0@9 -0@10 +0@12 -0@14 -1@15 ");
}

TEST(RowEvents, EndsPointsBeforeTheNextBegin) {
  EXPECT_EQ(Played({{5, 5}, {5, 5}}), "+0@5 -0@5 +0@5 -0@5 ");
}

}  // namespace
}  // namespace steplens::exporting
