#include "store/origin.h"

#include <gtest/gtest.h>

#include "base/archive.h"

namespace steplens::store {
namespace {

struct OriginRecord {
  Source source = Source::kUnknown;
  Format format = Format::kUnknown;
  template <typename Archive>
  void Fields(Archive& archive) {
    archive(source, format);
  }
};

TEST(Origin, NamesAreReadBack) {
  for (const std::string_view name : {"", "ascend_pt", "ascend_ms", "msprof", "kineto", "nsys"})
    EXPECT_EQ(SourceName(SourceOfName(name).value()), name);
  for (const std::string_view name : {"", "text", "db", "json", "raw"})
    EXPECT_EQ(FormatName(FormatOfName(name).value()), name);
  EXPECT_EQ(SourceOfName("Kineto"), std::nullopt);
  EXPECT_EQ(FormatOfName("kineto"), std::nullopt);
}

TEST(Origin, NumbersOfNoSourceOrFormatAreRefused) {
  const auto again = FromBytes<OriginRecord>(ToBytes(OriginRecord{Source::kNsys, Format::kRaw}));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->source, Source::kNsys);
  EXPECT_EQ(again->format, Format::kRaw);
  EXPECT_FALSE(FromBytes<OriginRecord>(std::string("\x06\x01", 2)));
  EXPECT_FALSE(FromBytes<OriginRecord>(std::string("\x01\x05", 2)));
  // A varint of 256 is not cut to the enumerator 0.
  EXPECT_FALSE(FromBytes<OriginRecord>(std::string("\x80\x02\x01", 3)));
}

TEST(Origin, TextAndRawCapturesDivideStepsAlike) {
  EXPECT_TRUE(DividesStepsAsText(Format::kText));
  EXPECT_TRUE(DividesStepsAsText(Format::kRaw));
  EXPECT_FALSE(DividesStepsAsText(Format::kDb));
  EXPECT_FALSE(DividesStepsAsText(Format::kJson));
}

TEST(Origin, OnlyAscendsFrameworksMakeKernelsOfTheHost) {
  EXPECT_FALSE(HostStandsForDevice(Source::kAscendPt));
  EXPECT_FALSE(HostStandsForDevice(Source::kAscendMs));
  EXPECT_TRUE(HostStandsForDevice(Source::kKineto));
  EXPECT_TRUE(HostStandsForDevice(Source::kMsprof));
}

}  // namespace
}  // namespace steplens::store
