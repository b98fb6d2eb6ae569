#include "base/process_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace steplens {
namespace {

uint64_t AddressOf(const std::string& text) { return reinterpret_cast<uintptr_t>(text.data()); }

// Runs `look` in another process; whether it says yes there.
template <typename Look>
bool IsSeenByAnother(const Look& look) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(look() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Some systems let no process look into another (yama's ptrace_scope, containers).
class ProcessMemoryOfAnother : public testing::Test {
 protected:
  void SetUp() override {
    const MemoryPlace place = OwnMemory();
    const bool is_let_in = IsSeenByAnother([&] { return ProcessMemory::Open(place).ok(); });
    if (!is_let_in) GTEST_SKIP() << "this system lets no process read the memory of another";
  }
};

TEST_F(ProcessMemoryOfAnother, ComesWhereItIsWanted) {
  std::string text = "abcdef";
  const MemoryPlace place = OwnMemory();
  const uint64_t address = AddressOf(text);
  // Who looks has a copy of the text, which it changes.
  EXPECT_TRUE(IsSeenByAnother([&] {
    text = "......";
    const Result<ProcessMemory> memory = ProcessMemory::Open(place);
    std::string got(5, '-');
    const std::vector<MemoryPiece> pieces = {{address + 4, 2, 0}, {address, 1, 4}};
    return memory.ok() && memory->Read(pieces, got.data()).ok() && got == "ef--a";
  }));
}

TEST_F(ProcessMemoryOfAnother, IsReadInTurnsIfThereAreManyPieces) {
  const std::string text(5000, 'x');
  const MemoryPlace place = OwnMemory();
  std::vector<MemoryPiece> pieces;
  for (uint64_t i = 0; i < text.size(); ++i) pieces.push_back({AddressOf(text) + i, 1, i});
  const auto reads = [&] {
    const Result<ProcessMemory> memory = ProcessMemory::Open(place);
    std::string got(text.size(), '-');
    return memory.ok() && memory->Read(pieces, got.data()).ok() && got == text;
  };
  EXPECT_TRUE(reads());
  EXPECT_TRUE(IsSeenByAnother(reads));
}

TEST_F(ProcessMemoryOfAnother, IsAnErrorWhereThereIsNone) {
  const MemoryPlace place = OwnMemory();
  EXPECT_TRUE(IsSeenByAnother([&] {
    const Result<ProcessMemory> memory = ProcessMemory::Open(place);
    char byte = 0;
    const MemoryPiece nowhere{16, 1, 0};
    return memory.ok() && !memory->Read({&nowhere, 1}, &byte).ok();
  }));
}

TEST(ProcessMemory, OfAProcessThatOnlyHasTheNumberIsRefused) {
  MemoryPlace place = OwnMemory();
  ++place.mark;
  const Result<ProcessMemory> memory = ProcessMemory::Open(place);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().code, ErrorCode::kNotFound);
  place.process = 1 << 30;  // beyond what Linux counts to
  EXPECT_FALSE(ProcessMemory::Open(place).ok());
}

}  // namespace
}  // namespace steplens
