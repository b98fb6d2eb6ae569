#include "server/query_threads.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

class QueryThreadsTest : public testing::Test {
 protected:
  QueryThreads::Answer Ask(const std::string& sql, milliseconds timeout) {
    return threads_.Run(*query::Database::Open(job_), {sql, timeout, 10},
                        [this](auto) { ++given_back_; });
  }

  store::Job job_ = analysis::StoreBuilder().Job();
  std::atomic<int> given_back_{0};
  QueryThreads threads_;  // last: it uses the others
};

TEST_F(QueryThreadsTest, AnswersAndGivesTheConnectionBack) {
  const QueryThreads::Answer answer = Ask("SELECT 7 AS n", milliseconds(5000));
  ASSERT_TRUE(answer.table.ok());
  EXPECT_EQ(answer.table->Find("n")->ints, std::vector<int64_t>{7});
  EXPECT_FALSE(answer.timed_out);
  EXPECT_EQ(given_back_, 1);
}

TEST_F(QueryThreadsTest, StopsBetweenSteps) {
  const QueryThreads::Answer answer =
      Ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
          milliseconds(50));
  EXPECT_FALSE(answer.table.ok());
  EXPECT_TRUE(answer.timed_out);
}

// One call of instr compares 250,000 bytes at each of 250,000 places: more than a second.
TEST_F(QueryThreadsTest, GivesUpAFunctionThatGoesOn) {
  const Clock::time_point began = Clock::now();
  const QueryThreads::Answer answer = Ask(
      "SELECT instr(printf('%.500000c', 'a'), printf('%.250000c', 'a') || 'b')", milliseconds(50));
  EXPECT_LT(Clock::now() - began, milliseconds(1000));
  EXPECT_FALSE(answer.table.ok());
  EXPECT_TRUE(answer.timed_out);
  EXPECT_EQ(given_back_, 0) << "SQLite still uses it";
}

TEST_F(QueryThreadsTest, RefusesLongTextsAndPatterns) {
  const QueryThreads::Answer text = Ask("SELECT length(zeroblob(2000000))", milliseconds(5000));
  ASSERT_FALSE(text.table.ok());
  EXPECT_EQ(text.table.error().message, "a text or blob of the query is longer than 1000000 bytes");
  const QueryThreads::Answer pattern =
      Ask("SELECT 'a' LIKE printf('%.2000c', 'a')", milliseconds(5000));
  ASSERT_FALSE(pattern.table.ok());
  EXPECT_NE(pattern.table.error().message.find("pattern too complex"), std::string::npos);
}

}  // namespace
}  // namespace steplens::server
