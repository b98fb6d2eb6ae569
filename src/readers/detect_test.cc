#include "readers/detect.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_folder.h"

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;

// A raw capture below `folder`, with a file that holds data.
fs::path MakeRawCapture(const fs::path& folder) {
  const fs::path capture = folder / "host_1_20250109000000000_ascend_pt";
  fs::create_directories(capture / "FRAMEWORK");
  std::ofstream(capture / "FRAMEWORK" / "torch.op_range") << "x";
  return capture;
}

TEST(DetectRanks, DeviceDataIsWhatLiesInTheCaptureNotAbove) {
  const ScratchFolder folder;
  const fs::path capture = MakeRawCapture(folder / "PROF_of_monday");
  Result<Detected> found = DetectRanks({capture.string()});
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->ranks.size(), 1u);
  EXPECT_EQ(found->ranks[0].format, store::Format::kRaw);
  EXPECT_FALSE(found->ranks[0].has_device_folder);

  fs::create_directory(capture / "PROF_000001_20250109000000000_ABC");
  found = DetectRanks({capture.string()});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->ranks[0].has_device_folder);
}

}  // namespace
}  // namespace steplens::readers
