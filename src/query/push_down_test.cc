#include <gtest/gtest.h>

#include <random>

#include "query/testing/ask.h"

// Push-down against SQLite's own evaluation, on random stores.

namespace steplens::query {
namespace {

int64_t Pick(std::mt19937& random, int64_t last) {
  return std::uniform_int_distribution<int64_t>(0, last)(random);
}

store::Job RandomJob(uint32_t seed) {
  std::mt19937 random(seed);
  const std::string_view names[] = {"a", "b", "", "5", "5.0", "矩阵", "it's"};
  store::Job job;
  for (int64_t rank = 0; rank < 3; ++rank) {
    store::TraceStore& store = AddRank(job, rank * 2);
    store.tracks.Append({});
    store.tracks.Append({});
    const int64_t rows = Pick(random, 60);
    for (int64_t i = 0; i < rows; ++i) {
      store::SliceTable::Row row;
      row.track = Pick(random, 4) == 0 ? store::kNoTrack
                                       : store::TrackId{static_cast<uint32_t>(Pick(random, 1))};
      row.begin_ns = Pick(random, 12) - 2;
      row.dur_ns = Pick(random, 5);
      row.name = store.strings.Intern(names[Pick(random, rank == 1 ? 2 : 6)]);
      row.correlation = Pick(random, 3) == 0 ? store::kNone : Pick(random, 9);
      row.args_size = static_cast<uint32_t>(Pick(random, 6));
      store.slices.Append(row);
    }
  }
  return job;
}

TEST(PushDown, AgreesWithSqliteForEveryConstraint) {
  const char* const columns[] = {"rank",  "id",        "track_id",    "begin_ns", "name",
                                 "depth", "parent_id", "correlation", "args_size"};
  const char* const operators[] = {"=", "<", "<=", ">", ">=", "IS", "<>"};
  const char* const values[] = {"0",
                                "5",
                                "-1",
                                "2.0",
                                "4.5",
                                "-0.5",
                                "1e300",
                                "-1e300",
                                "9223372036854775807",
                                "-9223372036854775808",
                                "9223372036854775807.0",
                                "NULL",
                                "'a'",
                                "'5'",
                                "' 5'",
                                "'5.0'",
                                "''",
                                "'矩阵'",
                                "x'61'",
                                "4294967295",
                                "4294967296"};
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const store::Job job = RandomJob(seed);
    const auto db = Open(job);
    const std::string select = "SELECT rank, id FROM slices WHERE ";
    for (const std::string column : columns) {
      for (const std::string op : operators) {
        for (const std::string value : values) {
          const std::string condition = column + " " + op + " " + value;
          EXPECT_EQ(Ask(*db, select + condition),
                    Ask(*db, select + "CASE WHEN " + condition + " THEN 1 END"))
              << condition << " seed " << seed;
        }
      }
    }
  }
}

TEST(PushDown, AgreesWithSqliteForCombinedConstraints) {
  for (uint32_t seed = 10; seed < 40; ++seed) {
    const store::Job job = RandomJob(seed);
    const auto db = Open(job);
    for (const std::string condition :
         {"rank = 2 AND id BETWEEN 3 AND 20", "id >= 5 AND id < 9 AND name = 'a'",
          "begin_ns > 2 AND begin_ns <= 7 AND track_id = 1", "name IN ('a', '', 'zz')",
          "name = 'b' AND correlation = 3 AND rank >= 2", "id IN (0, 7, 59, 60, -1)",
          "rank = 0 OR begin_ns = 4", "name = 'a' AND name = 'b'", "id = 3 AND id = 4"}) {
      EXPECT_EQ(Ask(*db, "SELECT rank, id FROM slices WHERE " + condition + " ORDER BY rank, id"),
                Ask(*db, "SELECT rank, id FROM slices WHERE CASE WHEN " + condition +
                             " THEN 1 END ORDER BY rank, id"))
          << condition << " seed " << seed;
    }
  }
}

TEST(PushDown, AgreesWithSqliteInJoins) {
  for (uint32_t seed = 50; seed < 60; ++seed) {
    const store::Job job = RandomJob(seed);
    const auto db = Open(job);
    for (const std::string condition :
         {"a.rank = b.rank AND a.correlation = b.correlation", "a.name = b.name",
          "a.begin_ns = b.correlation AND b.rank = 4", "a.rank = b.rank AND a.id = b.track_id",
          "a.rank = b.rank AND b.begin_ns >= a.begin_ns AND b.begin_ns < a.begin_ns + a.dur_ns",
          "a.name = b.correlation"}) {
      const std::string select = "SELECT a.rank, a.id, b.rank, b.id FROM slices a, slices b WHERE ";
      const std::string order = " ORDER BY 1, 2, 3, 4";
      EXPECT_EQ(Ask(*db, select + condition + order),
                Ask(*db, select + "CASE WHEN " + condition + " THEN 1 END" + order))
          << condition << " seed " << seed;
    }
  }
}

TEST(PushDown, AgreesWithAPlainLoop) {
  const store::Job job = RandomJob(7);
  int64_t expected = 0;
  for (const store::TraceStore& store : job.ranks) {
    for (size_t i = 0; i < store.slices.size(); ++i) {
      const auto row = store.slices.Get(i);
      expected += store.Text(row.name) == "a" && row.begin_ns >= 3 && row.begin_ns < 8 &&
                  store.info.rank > 0;
    }
  }
  EXPECT_GT(expected, 0);
  EXPECT_EQ(Ask(job,
                "SELECT count(*) AS n FROM slices "
                "WHERE name = 'a' AND begin_ns >= 3 AND begin_ns < 8 AND rank > 0"),
            "n\n" + std::to_string(expected) + "\n");
}

}  // namespace
}  // namespace steplens::query
