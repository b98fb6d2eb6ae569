#include "query/table_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace steplens::query {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Rows = std::vector<std::pair<int64_t, size_t>>;  // rank, row

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Two ranks, 0 and 2, with instants at 10, none, 30 and at 10, 20.
store::Job MakeJob() {
  store::Job job;
  for (const int64_t rank : {0, 2}) {
    store::TraceStore& store = job.ranks.emplace_back();
    store.info.rank = rank;
    const auto add = [&](int64_t ts_ns, std::string_view name) {
      store.instants.Append({.track = store::kNoTrack,
                             .ts_ns = ts_ns,
                             .name = store.strings.Intern(name),
                             .category = StringId::kEmpty});
    };
    if (rank == 0) {
      add(10, "a");
      add(store::kNone, "b");
      add(30, "a");
    } else {
      add(10, "c");
      add(20, "a");
    }
  }
  return job;
}

class TableScanTest : public ::testing::Test {
 protected:
  TableScanTest()
      : job_(MakeJob()),
        catalog_(*Catalog::Build(job_, {})),
        instants_(*catalog_.Find("instants")) {}

  size_t Column(std::string_view name) const {
    size_t i = 0;
    while (instants_.columns[i].name != name) ++i;
    return i;
  }
  IntRange Range(std::string_view column, int64_t first, int64_t last) const {
    return {Column(column), first, last};
  }
  TextEquals Text(std::string_view column, std::string_view text) const {
    return {Column(column), std::string(text)};
  }
  Rows Scan(RowFilter filter) {
    Rows rows;
    for (TableScan scan(instants_, std::move(filter)); !scan.done(); scan.Next()) {
      rows.emplace_back(scan.part().rank, scan.row());
    }
    return rows;
  }

  const store::Job job_;
  const Catalog catalog_;
  SqlTable& instants_;
};

TEST_F(TableScanTest, VisitsAllRowsByRankAndRow) {
  EXPECT_EQ(Scan({}), (Rows{{0, 0}, {0, 1}, {0, 2}, {2, 0}, {2, 1}}));
}

TEST_F(TableScanTest, NullIsInNoRange) {
  EXPECT_EQ(Scan({.ranges = {Range("ts_ns", store::kNone, kMax)}, .texts = {}}),
            (Rows{{0, 0}, {0, 2}, {2, 0}, {2, 1}}));
  EXPECT_THAT(Scan({.ranges = {Range("track_id", 0, kMax)}, .texts = {}}), IsEmpty());
}

TEST_F(TableScanTest, AppliesAllConditions) {
  EXPECT_EQ(Scan({.ranges = {Range("ts_ns", 10, 20)}, .texts = {Text("name", "a")}}),
            (Rows{{0, 0}, {2, 1}}));
  EXPECT_EQ(Scan({.ranges = {Range("rank", 1, kMax), Range("id", 1, 7)}, .texts = {}}),
            (Rows{{2, 1}}));
  EXPECT_EQ(Scan({.ranges = {Range("id", -5, 0)}, .texts = {}}), (Rows{{0, 0}, {2, 0}}));
}

TEST_F(TableScanTest, ATextNoRankHasMatchesNothing) {
  EXPECT_THAT(Scan({.ranges = {}, .texts = {Text("name", "absent")}}), IsEmpty());
  EXPECT_EQ(Scan({.ranges = {}, .texts = {Text("name", "c")}}), (Rows{{2, 0}}));
}

TEST_F(TableScanTest, AnEmptyRangeMatchesNothing) {
  for (const char* column : {"rank", "id", "ts_ns", "track_id"}) {
    EXPECT_THAT(Scan({.ranges = {Range(column, kMax, store::kNone)}, .texts = {}}), IsEmpty());
  }
}

TEST_F(TableScanTest, AnIndexGivesTheSameRowsAsAScan) {
  const size_t name = Column("name");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Scan({.ranges = {}, .texts = {Text("name", "a")}}), (Rows{{0, 0}, {0, 2}, {2, 1}}));
    EXPECT_EQ(Scan({.ranges = {Range("id", 1, 2)}, .texts = {Text("name", "a")}}),
              (Rows{{0, 2}, {2, 1}}));
    EXPECT_EQ(Scan({.ranges = {Range("ts_ns", 20, 40)}, .texts = {Text("name", "a")}}),
              (Rows{{0, 2}, {2, 1}}));
    EXPECT_THAT(Scan({.ranges = {}, .texts = {Text("name", "")}}), IsEmpty());
  }
  EXPECT_THAT(instants_.parts[0].indexes[name].order, ElementsAre(0, 2, 1));
}

}  // namespace
}  // namespace steplens::query
