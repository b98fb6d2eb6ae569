#include "base/program_pages.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

namespace steplens {
namespace {

// Pages of files in the memory of this process.
int64_t FilePagesKb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stoll(line.substr(8));
  }
  return 0;
}

struct Animal {
  virtual ~Animal() = default;
  virtual std::string Name() const = 0;
};
struct Cat : Animal {
  std::string Name() const override { return "cat"; }
};

TEST(ForgetProgramPages, LeavesAProgramThatRunsInLessMemory) {
  const std::unique_ptr<Animal> animal = std::make_unique<Cat>();
  const int64_t before_kb = FilePagesKb();
  ForgetProgramPages();
  EXPECT_LT(FilePagesKb(), before_kb);
  EXPECT_EQ(animal->Name(), "cat");  // found through an address that the loader filled in
}

}  // namespace
}  // namespace steplens
