#include "collect/ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "collect/ring_pool.h"

namespace steplens::collect {
namespace {

struct Number {
  RecordHead head;
  uint64_t value;
};

class OwnedRing {
 public:
  explicit OwnedRing(size_t capacity)
      : memory_(new uint64_t[capacity / 8]()),
        ring(reinterpret_cast<uint8_t*>(memory_.get()), capacity) {}

 private:
  std::unique_ptr<uint64_t[]> memory_;

 public:
  Ring ring;
};

// A record of `bytes` whose value is `value`; false if there was no room.
bool Put(Ring& ring, uint64_t value, size_t bytes = sizeof(Number)) {
  bool half_full = false;
  uint8_t* place = ring.Reserve(bytes, &half_full);
  if (place == nullptr) return false;
  const Number number{RecordHead::Of(7, bytes, 0), value};
  std::memcpy(place, &number, sizeof(number));
  ring.Commit(bytes);
  return true;
}

std::vector<uint64_t> TakeAll(Ring& ring) {
  std::vector<uint64_t> values;
  ring.Drain([&](const RecordHead* head) {
    values.push_back(reinterpret_cast<const Number*>(head)->value);
  });
  return values;
}

TEST(Ring, GivesBackWhatWasPutInOrder) {
  OwnedRing owned(1024);
  EXPECT_TRUE(owned.ring.empty());
  for (const uint64_t value : {3u, 1u, 2u}) EXPECT_TRUE(Put(owned.ring, value));
  EXPECT_FALSE(owned.ring.empty());
  EXPECT_EQ(TakeAll(owned.ring), (std::vector<uint64_t>{3, 1, 2}));
  EXPECT_TRUE(owned.ring.empty());
}

TEST(Ring, RefusesWhenFullAndWorksAgainWhenDrained) {
  OwnedRing owned(256);
  uint64_t put = 0;
  while (Put(owned.ring, put)) ++put;
  EXPECT_EQ(put, 256 / sizeof(Number));
  EXPECT_EQ(TakeAll(owned.ring).size(), put);
  EXPECT_TRUE(Put(owned.ring, 1));
}

TEST(Ring, NeverHoldsARecordOfMoreThanHalfOfIt) {
  OwnedRing owned(256);
  EXPECT_FALSE(Put(owned.ring, 1, 136));
  EXPECT_TRUE(Put(owned.ring, 1, 128));
}

TEST(Ring, SaysWhenItIsHalfFull) {
  OwnedRing owned(256);
  bool half_full = false;
  for (int i = 0; i < 8; ++i) {
    owned.ring.Reserve(16, &half_full);
    owned.ring.Commit(16);
    EXPECT_FALSE(half_full) << i;
  }
  owned.ring.Reserve(16, &half_full);
  EXPECT_TRUE(half_full);
}

TEST(Ring, RecordsOfAnySizeComeThroughAroundTheEnd) {
  OwnedRing owned(1024);
  std::mt19937 random(3);
  uint64_t next_in = 0;
  uint64_t next_out = 0;
  for (int round = 0; round < 5000; ++round) {
    const size_t bytes = 16 + 8 * (random() % 40);
    if (Put(owned.ring, next_in, bytes)) ++next_in;
    if (random() % 4 != 0) continue;
    for (const uint64_t value : TakeAll(owned.ring)) ASSERT_EQ(value, next_out++);
  }
  for (const uint64_t value : TakeAll(owned.ring)) ASSERT_EQ(value, next_out++);
  EXPECT_EQ(next_in, next_out);
  EXPECT_GT(next_in, 1000u);
}

TEST(Ring, MemoryThatWasGivenBackIsNotTakenForRecords) {
  OwnedRing owned(256);
  ASSERT_TRUE(Put(owned.ring, 1));
  std::memset(owned.ring.data(), 0, 256);
  EXPECT_TRUE(TakeAll(owned.ring).empty());
  EXPECT_TRUE(Put(owned.ring, 2));
  EXPECT_EQ(TakeAll(owned.ring), std::vector<uint64_t>{2});
}

TEST(Ring, OneThreadWritesWhileAnotherReads) {
  constexpr uint64_t kCount = 200'000;
  OwnedRing owned(4096);
  std::thread producer([&] {
    for (uint64_t value = 0; value < kCount;) {
      if (Put(owned.ring, value, 16 + 8 * (value % 5))) {
        ++value;
      } else {
        std::this_thread::yield();
      }
    }
  });
  uint64_t expected = 0;
  while (expected < kCount) {
    for (const uint64_t value : TakeAll(owned.ring)) ASSERT_EQ(value, expected++);
    std::this_thread::yield();
  }
  producer.join();
}

TEST(RingPool, RingsBecomeSmallerAndThenRunOutWithinTheBound) {
  RingPool pool;
  constexpr size_t kTotal = 4 << 20;
  pool.Prepare(1 << 20, kTotal);
  size_t smallest = SIZE_MAX;
  size_t count = 0;
  while (ThreadRing* ring = pool.Acquire()) {
    smallest = std::min(smallest, ring->ring.capacity());
    ++count;
  }
  EXPECT_LE(pool.allocated_bytes(), kTotal);
  EXPECT_EQ(smallest, 16u * 1024);
  EXPECT_GT(count, 64u);
  EXPECT_NE(pool.shared(), nullptr);
  pool.LockForFork();
  pool.ResetInChild();
  EXPECT_EQ(pool.allocated_bytes(), 0u);
}

// How many pages of a ring from its `first` byte on are in memory, without a gap.
size_t PagesInMemory(const Ring& ring, size_t first) {
  std::vector<unsigned char> are_in(ring.capacity() / 4096);
  mincore(ring.data(), ring.capacity(), are_in.data());
  size_t count = 0;
  while (first / 4096 + count < are_in.size() && (are_in[first / 4096 + count] & 1) != 0) ++count;
  return count;
}

TEST(RingPool, PagesAheadOfABusyThreadAreThere) {
  RingPool pool;
  pool.Prepare(1 << 20, 4 << 20);
  ThreadRing* ring = pool.Acquire();
  RingPool::TouchAhead(*ring);
  EXPECT_EQ(PagesInMemory(ring->ring, 0), 0u) << "it is not busy";
  ASSERT_TRUE(Put(ring->ring, 5));
  RingPool::TouchAhead(*ring);
  const size_t ahead = PagesInMemory(ring->ring, 0);
  if (ahead > 1) {          // older kernels do nothing
    EXPECT_EQ(ahead, 65u);  // the one written to and 256 KiB
  }
  EXPECT_EQ(TakeAll(ring->ring), std::vector<uint64_t>{5}) << "touching changes nothing";
  pool.Trim();
  EXPECT_EQ(PagesInMemory(ring->ring, 0), 0u);
  RingPool::TouchAhead(*ring);
  EXPECT_EQ(PagesInMemory(ring->ring, 0), 0u) << "nothing was recorded since";
  pool.LockForFork();
  pool.ResetInChild();
}

TEST(RingPool, ARingOfAnEndedThreadIsReusedOnceItIsEmpty) {
  RingPool pool;
  pool.Prepare(1 << 16, 1 << 20);
  ThreadRing* first = pool.Acquire();
  ASSERT_TRUE(Put(first->ring, 5));
  first->orphaned = true;
  EXPECT_NE(pool.Acquire(), first) << "it still holds a record";
  size_t seen = 0;
  pool.ForEach([&](ThreadRing& ring) { seen += TakeAll(ring.ring).size(); });
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(pool.Acquire(), first);
  pool.LockForFork();
  pool.ResetInChild();
}

}  // namespace
}  // namespace steplens::collect
