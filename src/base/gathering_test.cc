#include "base/gathering.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/archive.h"

namespace steplens {
namespace {

std::string PartOf(size_t item) { return "part " + std::to_string(item); }

std::string Reported(const ItemRun& run) {
  RunReport report;
  report.first = run.begin;
  for (size_t i = run.begin; i < run.end; ++i) report.parts.push_back(PartOf(i));
  return ToBytes(report);
}

// What was handed on, in order; other parts than expected are failures.
class Taken {
 public:
  Team::Take take() {
    return [this](size_t item, std::string_view part) {
      EXPECT_EQ(item, count_++);
      EXPECT_EQ(part, PartOf(item));
    };
  }
  size_t count() const { return count_; }

 private:
  size_t count_ = 0;
};

TEST(Gathering, PartsWaitForTheirTurn) {
  Gathering gathering(8, 2);  // first runs: 0-1 and 2-3
  Taken taken;
  EXPECT_EQ(gathering.Put(1, Reported({2, 4})), false);
  gathering.TakeReady(taken.take());
  EXPECT_EQ(taken.count(), 0u);
  for (const size_t item : {0u, 1u}) {
    EXPECT_EQ(gathering.NextOfRoot(), item);
    gathering.PutOfRoot(item, PartOf(item));
  }
  gathering.TakeReady(taken.take());
  EXPECT_EQ(taken.count(), 4u);
  EXPECT_TRUE(gathering.HasAllOfOthers());
}

TEST(Gathering, MembersOfAnySpeedGiveTheSame) {
  constexpr size_t kCount = 1000;
  constexpr size_t kMembers = 4;
  Gathering gathering(kCount, kMembers);
  std::vector<std::thread> members;
  std::atomic<size_t> at_work = kMembers - 1;
  for (size_t member = 1; member < kMembers; ++member) {
    members.emplace_back([&, member] {
      ItemRun run = RunDivision(kCount, kMembers).First(member);
      for (; !run.empty(); run = gathering.NextOf(member)) {
        if (member == 1) std::this_thread::yield();
        EXPECT_EQ(gathering.Put(member, Reported(run)), false);
      }
      if (--at_work == 0) gathering.End({});
    });
  }
  Taken taken;
  while (const std::optional<size_t> item = gathering.NextOfRoot()) {
    gathering.PutOfRoot(*item, PartOf(*item));
    gathering.TakeReady(taken.take());
  }
  EXPECT_TRUE(gathering.TakeRest(taken.take()).ok());
  for (std::thread& member : members) member.join();
  EXPECT_EQ(taken.count(), kCount);
  EXPECT_TRUE(gathering.HasAllOfOthers());
  const std::vector<size_t> owners = gathering.TakeOwners();
  EXPECT_EQ(owners[0], 0u);
  EXPECT_EQ(owners[RunDivision(kCount, kMembers).First(3).begin], 3u);
  EXPECT_LT(*std::max_element(owners.begin(), owners.end()), kMembers);
}

TEST(Gathering, SaysWhoWantsARun) {
  Gathering gathering(8, 2);
  EXPECT_EQ(gathering.Put(1, ToBytes(RunReport{.wants_run = true})), true);
}

TEST(Gathering, RefusesReportsThatAreNotTheMembers) {
  Gathering gathering(8, 2);
  EXPECT_EQ(gathering.Put(1, "damaged"), std::nullopt);
  EXPECT_EQ(gathering.Put(1, Reported({0, 1})), std::nullopt);   // the root's
  EXPECT_EQ(gathering.Put(1, Reported({2, 5})), std::nullopt);   // not given to anybody
  EXPECT_EQ(gathering.Put(1, Reported({7, 12})), std::nullopt);  // beyond the end
  EXPECT_EQ(gathering.Put(1, Reported({2, 4})), false);
  EXPECT_EQ(gathering.Put(1, Reported({2, 4})), std::nullopt);  // twice
}

TEST(Gathering, AnEndBeforeAllHasComeIsAnError) {
  Gathering lost(8, 2);
  lost.End({});
  Taken taken;
  const Status status = lost.TakeRest(taken.take());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "items were lost between MPI processes");

  Gathering failed(8, 2);
  failed.End(Error{ErrorCode::kIo, "MPI failed"});
  EXPECT_EQ(failed.TakeRest(taken.take()).error().message, "MPI failed");
}

}  // namespace
}  // namespace steplens
