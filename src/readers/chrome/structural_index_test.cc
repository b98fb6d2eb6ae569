#include "readers/chrome/structural_index.h"

#include <gtest/gtest.h>

#include <string>

namespace steplens::readers {
namespace {

// A text with the room behind it that an index needs.
class Padded {
 public:
  explicit Padded(std::string text) : size_(text.size()), text_(std::move(text)) {
    text_.append(kParserPadding, '}');  // not blank: what is behind the text must not count
  }
  std::string_view view() const { return {text_.data(), size_}; }

 private:
  size_t size_;
  std::string text_;
};

TEST(StructuralIndex, RefusesWhatIsNoJsonText) {
  StructuralIndex index;
  EXPECT_FALSE(index.Build(Padded("[\"open").view()));
  EXPECT_FALSE(index.Build(Padded("[\"\xFF\"]").view()));
  EXPECT_TRUE(index.Build(Padded("[\"\xC3\xA9\"]").view()));
}

TEST(TokenCursor, TakesScalarsAndWholeValues) {
  const Padded text(R"({"a" : 1 ,"b":[{"c":"]}"},[]]})");
  StructuralIndex index;
  ASSERT_TRUE(index.Build(text.view()));
  TokenCursor tokens(text.view(), index);
  EXPECT_NE(tokens.Take('{'), nullptr);
  EXPECT_EQ(tokens.Take('}'), nullptr);
  EXPECT_EQ(tokens.TakeValue(), "\"a\" ");
  EXPECT_NE(tokens.Take(':'), nullptr);
  EXPECT_EQ(tokens.TakeValue(), "1 ");
  EXPECT_NE(tokens.Take(','), nullptr);
  EXPECT_EQ(tokens.TakeValue(), "\"b\"");
  EXPECT_NE(tokens.Take(':'), nullptr);
  EXPECT_EQ(tokens.TakeValue(), R"([{"c":"]}"},[]])");
  EXPECT_NE(tokens.Take('}'), nullptr);
  EXPECT_TRUE(tokens.AtEnd());
}

TEST(TokenCursor, NeverPassesTheEnd) {
  for (const char* json : {"[", "[[1,{", "[1", "[{\"a\":"}) {
    const Padded text(json);
    StructuralIndex index;
    ASSERT_TRUE(index.Build(text.view())) << json;
    TokenCursor tokens(text.view(), index);
    EXPECT_EQ(tokens.TakeValue(), "") << json;
    EXPECT_EQ(tokens.Take('}'), nullptr) << json;
    EXPECT_EQ(tokens.TakeValue(), "") << json;
  }
}

}  // namespace
}  // namespace steplens::readers
