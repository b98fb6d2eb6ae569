#include "base/shared_counters.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace steplens {
namespace {

TEST(SharedCounters, EveryNumberIsForOneProcess) {
  Result<SharedCounters> counters = SharedCounters::Create(2);
  ASSERT_TRUE(counters.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    Result<SharedCounters> own = SharedCounters::Open(counters->place(), 2);
    if (!own.ok()) ::_exit(1);
    for (int i = 0; i < 1000; ++i) own->Next(1);
    ::_exit(0);
  }
  for (int i = 0; i < 1000; ++i) counters->Next(1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(counters->Next(0), 0u);
  EXPECT_EQ(counters->Next(1), 2000u);
}

}  // namespace
}  // namespace steplens
