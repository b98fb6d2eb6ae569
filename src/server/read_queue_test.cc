#include "server/read_queue.h"

#include <gtest/gtest.h>

namespace steplens::server {
namespace {

using Numbered = ReadQueue::Numbered;
using Number = ReadQueue::Number;

std::vector<ReadQueue::Found> Sure(std::vector<int64_t> ranks) {
  std::vector<ReadQueue::Found> out;
  for (const int64_t rank : ranks) out.push_back({rank, true});
  return out;
}

TEST(ReadQueue, ReadsInOrderOfPath) {
  ReadQueue queue;
  queue.Start(Sure({5, 6, 7}));
  EXPECT_EQ(queue.Take(), 0u);
  EXPECT_EQ(queue.Take(), 1u);
  EXPECT_EQ(queue.Take(), 2u);
}

TEST(ReadQueue, ReadsFirstWhatIsLookedAtAndShowsItAtOnce) {
  ReadQueue queue;
  queue.Focus({7});
  queue.Start(Sure({4, 5, 6, 7}));
  EXPECT_EQ(queue.Take(), 3u);
  EXPECT_EQ(queue.Take(), 0u);
  queue.Focus({6, 99});
  EXPECT_EQ(queue.Take(), 2u);
  EXPECT_EQ(queue.Take(), 1u);
  EXPECT_EQ(queue.Done(3, 7), (std::vector<Numbered>{{3, Number::kOwn}}));
  EXPECT_EQ(queue.Done(0, 4), (std::vector<Numbered>{{0, Number::kOwn}}));
}

TEST(ReadQueue, ANumberBelongsToTheFirstInOrderOfPathWhateverIsReadFirst) {
  ReadQueue queue;
  queue.Start(Sure({1, 1}));
  EXPECT_EQ(queue.Done(1, 1), std::vector<Numbered>{});  // the first may claim it
  EXPECT_EQ(queue.Done(0, 1), (std::vector<Numbered>{{0, Number::kOwn}, {1, Number::kTaken}}));
  EXPECT_EQ(queue.TakeFreeNumber(), 0);
  EXPECT_EQ(queue.TakeFreeNumber(), 2);
}

TEST(ReadQueue, WaitsForThoseThatMayTurnOutToBeTheSameRank) {
  ReadQueue queue;
  queue.Start({{-1, false}, {1, true}, {2, false}});
  EXPECT_EQ(queue.Done(1, 1), std::vector<Numbered>{});
  EXPECT_EQ(queue.Done(2, 2), std::vector<Numbered>{});
  EXPECT_EQ(queue.Done(0, -1),
            (std::vector<Numbered>{{0, Number::kUnknown}, {1, Number::kOwn}, {2, Number::kOwn}}));
}

TEST(ReadQueue, WhatCannotBeReadHoldsUpNobody) {
  ReadQueue queue;
  queue.Start({{0, false}, {1, false}});
  EXPECT_EQ(queue.Done(1, 1), std::vector<Numbered>{});
  EXPECT_EQ(queue.Done(0, std::nullopt), (std::vector<Numbered>{{1, Number::kOwn}}));
}

}  // namespace
}  // namespace steplens::server
