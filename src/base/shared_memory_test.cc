#include "base/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

namespace steplens {
namespace {

TEST(SharedMemory, AnotherProcessSeesWhatWasAdded) {
  Result<SharedMemory> memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(*memory->Append("first"), 0u);
  EXPECT_EQ(*memory->Append(""), 5u);
  EXPECT_EQ(*memory->Append("second"), 5u);
  EXPECT_EQ(memory->View()->bytes(), "firstsecond");
  const SharedPlace place = memory->place();
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<SharedView> view = SharedView::Open(place);
    ::_exit(view.ok() && view->bytes() == "firstsecond" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(SharedMemory, ViewsStayWhenTheirMemoryIsGone) {
  auto memory = std::make_unique<SharedMemory>(*SharedMemory::Create());
  ASSERT_TRUE(memory->Append("kept").ok());
  const SharedPlace place = memory->place();
  const Result<SharedView> view = SharedView::Open(place);
  ASSERT_TRUE(view.ok());
  memory.reset();
  EXPECT_EQ(view->bytes(), "kept");
  EXPECT_FALSE(SharedView::Open(place).ok());
}

TEST(SharedMemory, ThreadsAddAtOnce) {
  Result<SharedMemory> memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  constexpr size_t kThreads = 4;
  constexpr size_t kTexts = 200;
  std::vector<std::vector<uint64_t>> offsets(kThreads);
  std::vector<std::jthread> threads;
  const auto text_of = [](size_t thread, size_t i) {
    return std::string(i % 7, static_cast<char>('a' + thread));
  };
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kTexts; ++i) offsets[t].push_back(*memory->Append(text_of(t, i)));
    });
  }
  threads.clear();
  const Result<SharedView> view = SharedView::Open(memory->place());
  ASSERT_TRUE(view.ok());
  for (size_t t = 0; t < kThreads; ++t) {
    for (size_t i = 0; i < kTexts; ++i) {
      const std::string text = text_of(t, i);
      EXPECT_EQ(view->bytes().substr(offsets[t][i], text.size()), text);
    }
  }
}

TEST(SharedMemory, APlaceOfSomethingElseIsRefused) {
  Result<SharedMemory> memory = SharedMemory::Create();
  ASSERT_TRUE(memory->Append("x").ok());
  SharedPlace place = memory->place();
  ++place.id;
  EXPECT_EQ(SharedView::Open(place).error().code, ErrorCode::kNotFound);
  place.path = "/proc/self/fd/1000000";
  EXPECT_EQ(SharedView::Open(place).error().code, ErrorCode::kNotFound);
}

TEST(SharedMemory, NothingIsAViewOfNothing) {
  Result<SharedMemory> memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  const Result<SharedView> view = SharedView::Open(memory->place());
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->bytes(), "");
}

}  // namespace
}  // namespace steplens
