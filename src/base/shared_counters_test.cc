#include "base/shared_bytes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace steplens {
namespace {

TEST(SharedBytes, AreSeenByWhoeverOpensThePlace) {
  const Result<std::unique_ptr<SharedBytes>> shared = SharedBytes::Create();
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(*(*shared)->Append("abc"), 0u);
  EXPECT_EQ(*(*shared)->Append("de"), 3u);
  const Result<SharedView> view = SharedView::Open((*shared)->place());
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->bytes(), "abcde");
  EXPECT_EQ(*(*shared)->Append("f"), 5u);
  EXPECT_EQ(view->bytes(), "abcde");  // as it was opened
  EXPECT_EQ((*shared)->View()->bytes(), "abcdef");
}

TEST(SharedBytes, OutliveTheirProcessWhereTheyAreOpen) {
  Result<std::unique_ptr<SharedBytes>> shared = SharedBytes::Create();
  ASSERT_TRUE(shared.ok() && (*shared)->Append("abc").ok());
  const SharedPlace place = (*shared)->place();
  const Result<SharedView> view = SharedView::Open(place);
  (*shared).reset();
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->bytes(), "abc");
  EXPECT_FALSE(SharedView::Open(place).ok());
}

TEST(SharedBytes, AnotherFileInTheirPlaceIsRefused) {
  const Result<std::unique_ptr<SharedBytes>> shared = SharedBytes::Create();
  ASSERT_TRUE(shared.ok());
  SharedPlace place = (*shared)->place();
  ++place.id;
  const Result<SharedView> view = SharedView::Open(place);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, ErrorCode::kNotFound);
}

TEST(SharedBytes, ThreadsGetPlacesOfTheirOwn) {
  const Result<std::unique_ptr<SharedBytes>> shared = SharedBytes::Create();
  ASSERT_TRUE(shared.ok());
  std::vector<std::vector<uint64_t>> offsets(4);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < offsets.size(); ++t) {
      threads.emplace_back([&, t] {
        const std::string text(100 + t, static_cast<char>('a' + t));
        for (int i = 0; i < 50; ++i) offsets[t].push_back(*(*shared)->Append(text));
      });
    }
  }
  const Result<SharedView> view = (*shared)->View();
  ASSERT_TRUE(view.ok());
  for (size_t t = 0; t < offsets.size(); ++t) {
    for (const uint64_t offset : offsets[t])
      EXPECT_EQ(view->bytes().substr(offset, 100 + t),
                std::string(100 + t, static_cast<char>('a' + t)));
  }
}

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
