#include "collect/host_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace steplens::collect {
namespace {

namespace fs = std::filesystem;

// The number of a machine with cards of these addresses.
std::string UidOf(const std::vector<std::string>& addresses) {
  const fs::path network = fs::temp_directory_path() / ("steplens_net_" + std::to_string(getpid()));
  fs::remove_all(network);
  fs::create_directories(network);
  for (size_t i = 0; i < addresses.size(); ++i) {
    const fs::path card = network / ("eth" + std::to_string(i));
    fs::create_directory(card);
    std::ofstream(card / "address") << addresses[i] << "\n";
  }
  std::string uid = HostUid(network.string());
  fs::remove_all(network);
  return uid;
}

TEST(HostUid, IsTwoPolynomialsSideBySide) {
  uint32_t high = 0;
  uint32_t low = 0;
  for (const char c : std::string("00163e000001")) {
    high = high * 29 + static_cast<uint8_t>(c);
    low = low * 131 + static_cast<uint8_t>(c);
  }
  EXPECT_EQ(UidOf({"00:16:3E:00:00:01"}), std::to_string(uint64_t{high} << 32 | low));
}

TEST(HostUid, CountsAddressesMadeUpBySoftwareOnlyAlone) {
  const std::string card = "00:16:3e:00:00:01";
  const std::string bridge = "02:42:ac:11:00:02";
  EXPECT_EQ(UidOf({bridge, card}), UidOf({card}));
  EXPECT_NE(UidOf({bridge}), "");
}

TEST(HostUid, DoesNotDependOnTheOrderOfCards) {
  EXPECT_EQ(UidOf({"00:16:3e:00:00:01", "00:16:3e:00:00:02"}),
            UidOf({"00:16:3e:00:00:02", "00:16:3e:00:00:01"}));
}

TEST(HostUid, IsEmptyWithoutCards) {
  EXPECT_EQ(UidOf({"00:00:00:00:00:00", "x", ""}), "");
  EXPECT_EQ(HostUid("/nowhere"), "");
}

TEST(HostJson, AddsWhatWasNotSaid) {
  const std::string mine = HostJson("");
  EXPECT_TRUE(mine.starts_with("{\"device\": \"cpu\", \"host\": \"")) << mine;
  const std::string said = HostJson("{\"device\": \"npu\", \"torch\": \"2\", \"pid\": 7}");
  EXPECT_TRUE(said.starts_with("{\"device\": \"npu\", \"torch\": \"2\", \"pid\": 7, \"host\": \""))
      << said;
  EXPECT_THAT(said, testing::HasSubstr("\"host_uid\": \""));
}

}  // namespace
}  // namespace steplens::collect
