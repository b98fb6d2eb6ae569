#include "server/read_queue.h"

#include <gtest/gtest.h>

namespace steplens::server {
namespace {

TEST(ReadQueue, ReadsInOrder) {
  ReadQueue queue;
  queue.Start({5, 6, 7});
  EXPECT_EQ(queue.Take(), 0u);
  EXPECT_EQ(queue.Take(), 1u);
  EXPECT_EQ(queue.Take(), 2u);
}

TEST(ReadQueue, ReadsFirstWhatIsLookedAt) {
  ReadQueue queue;
  queue.Focus({7});
  queue.Start({4, 5, 6, 7});
  EXPECT_EQ(queue.Take(), 3u);
  EXPECT_EQ(queue.Take(), 0u);
  queue.Focus({6, 99});
  EXPECT_EQ(queue.Take(), 2u);
  EXPECT_EQ(queue.Take(), 1u);
}

}  // namespace
}  // namespace steplens::server
