#include "readers/chrome/series_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "readers/chrome/structural_index.h"

namespace steplens::readers {
namespace {

// Texts that stand in one buffer, as those of a piece do.
class SeriesTexts {
 public:
  SeriesIndex::Texts Get(char pid, char name, char label) const {
    return {One(pid), One(name), One(label)};
  }

 private:
  std::string_view One(char letter) const {
    return std::string_view(buffer_).substr(static_cast<size_t>(letter - 'a'), 1);
  }
  std::string buffer_ = "abcdefgh" + std::string(kParserPadding, ' ');
};

TEST(SeriesIndex, NumbersSeriesInTheOrderTheyAppear) {
  const SeriesTexts texts;
  SeriesIndex index;
  EventBatch batch;
  std::vector<uint32_t> found;
  for (int round = 0; round < 3; ++round) {
    found.push_back(index.Find(texts.Get('a', 'b', 'c'), batch));
    found.push_back(index.Find(texts.Get('a', 'b', 'd'), batch));
    found.push_back(index.Find(texts.Get('e', 'b', 'c'), batch));
  }
  EXPECT_EQ(found, (std::vector<uint32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  ASSERT_EQ(batch.series.size(), 3u);
  EXPECT_EQ(batch.strings.Get(batch.series[2].pid), "e");
  EXPECT_EQ(batch.strings.Get(batch.series[1].label), "d");
}

TEST(SeriesIndex, AnotherOrderGivesTheSameNumbers) {
  const SeriesTexts texts;
  SeriesIndex index;
  EventBatch batch;
  const std::string names = "abcdabdcabbbacdbad";
  for (const char name : names) {
    EXPECT_EQ(index.Find(texts.Get('h', name, 'g'), batch), static_cast<uint32_t>(name - 'a'));
  }
  index.Clear();
  batch.Clear();
  EXPECT_EQ(index.Find(texts.Get('h', 'd', 'g'), batch), 0u);
}

}  // namespace
}  // namespace steplens::readers
