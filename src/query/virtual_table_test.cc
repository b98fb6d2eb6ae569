#include "query/virtual_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace steplens::query {
namespace {

using ::testing::HasSubstr;

// A connection with the tables of a job of two ranks, a slice and a flow each.
class VirtualTableTest : public ::testing::Test {
 protected:
  VirtualTableTest() : job_(MakeJob()), catalog_(*Catalog::Build(job_, {})) {
    sqlite3_open(":memory:", &db_);
    EXPECT_TRUE(RegisterTables(db_, catalog_, is_declaring_).ok());
  }
  ~VirtualTableTest() override { sqlite3_close(db_); }

  static store::Job MakeJob() {
    store::Job job;
    for (const int64_t rank : {0, 1}) {
      store::TraceStore& store = job.ranks.emplace_back();
      store.info.rank = rank;
      store.tracks.Append({});
      store::SliceTable::Row slice;
      slice.track = store::TrackId{0};
      slice.begin_ns = 0;
      slice.dur_ns = 1;
      store.slices.Append(slice);
      store.flows.Append({});
    }
    return job;
  }

  // All cells of the result, each followed by a ';'.
  std::string Ask(const char* sql) {
    std::string out;
    const auto append_row = [](void* text, int count, char** cells, char**) {
      for (int i = 0; i < count; ++i) {
        *static_cast<std::string*>(text) += std::string(cells[i] ? cells[i] : "NULL") + ";";
      }
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(db_, sql, append_row, &out, nullptr), SQLITE_OK) << sqlite3_errmsg(db_);
    return out;
  }

  // Whether any derived column of a table's part has been computed.
  bool IsDerived(const char* table, size_t part) {
    const SqlTable& found = *catalog_.Find(table);
    for (size_t i = 0; i < found.columns.size(); ++i) {
      const bool is_computed = found.parts[part].columns[i].kind != ValueKind::kDerived;
      if (found.columns[i].derive != nullptr && is_computed) return true;
    }
    return false;
  }

  const store::Job job_;
  const Catalog catalog_;
  bool is_declaring_ = false;
  sqlite3* db_ = nullptr;
};

TEST_F(VirtualTableTest, DerivesOnlyWhatAQueryReads) {
  EXPECT_EQ(Ask("SELECT count(*), sum(dur_ns) FROM slices WHERE begin_ns >= 0"), "2;2;");
  EXPECT_FALSE(IsDerived("slices", 0));
  EXPECT_EQ(Ask("SELECT depth FROM slices WHERE rank = 1"), "0;");
  EXPECT_FALSE(IsDerived("slices", 0));
  EXPECT_TRUE(IsDerived("slices", 1));
  EXPECT_FALSE(IsDerived("flows", 1));
  EXPECT_EQ(Ask("SELECT from_slice_id FROM flows"), "NULL;NULL;");
  EXPECT_TRUE(IsDerived("flows", 0));
}

TEST_F(VirtualTableTest, PushesConditionsDown) {
  EXPECT_THAT(Ask("EXPLAIN QUERY PLAN SELECT 1 FROM slices WHERE begin_ns >= 5 AND rank = 0"),
              HasSubstr("VIRTUAL TABLE INDEX 0:3>= 1= "));
  EXPECT_THAT(Ask("EXPLAIN QUERY PLAN SELECT 1 FROM slices WHERE name = 'a' AND category > 'b'"),
              HasSubstr("VIRTUAL TABLE INDEX 0:5= ;"));
}

TEST_F(VirtualTableTest, NeedsNoSortForItsOwnOrder) {
  const auto sorts = [&](std::string query) {
    return Ask(("EXPLAIN QUERY PLAN " + query).c_str()).find("TEMP B-TREE") != std::string::npos;
  };
  EXPECT_FALSE(sorts("SELECT id FROM slices ORDER BY rank, id"));
  EXPECT_FALSE(sorts("SELECT rank, count(*) FROM slices GROUP BY rank"));
  EXPECT_TRUE(sorts("SELECT id FROM slices ORDER BY id"));
  EXPECT_TRUE(sorts("SELECT id FROM slices ORDER BY rank DESC"));
  EXPECT_TRUE(sorts("SELECT id FROM slices ORDER BY begin_ns"));
}

TEST_F(VirtualTableTest, LooksUpJoinPartnersById) {
  EXPECT_THAT(Ask("EXPLAIN QUERY PLAN SELECT 1 FROM tracks t, slices s "
                  "WHERE t.id = s.track_id AND t.rank = s.rank"),
              HasSubstr("SCAN s VIRTUAL TABLE"));
}

}  // namespace
}  // namespace steplens::query
