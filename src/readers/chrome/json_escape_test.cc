#include "readers/chrome/json_escape.h"

#include <gtest/gtest.h>

namespace steplens::readers {
namespace {

TEST(UnescapeJson, ResolvesEveryEscape) {
  EXPECT_EQ(UnescapeJson("plain"), "plain");
  EXPECT_EQ(UnescapeJson(R"(a\"b\\c\/d\b\f\n\r\te)"), "a\"b\\c/d\b\f\n\r\te");
  EXPECT_EQ(UnescapeJson(R"(\u0041\u00e9\u20AC\ud83d\ude00!)"),
            "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80!");
}

TEST(UnescapeJson, GivesBackATextWhoseEscapesMeanNothing) {
  for (const char* raw : {R"(a\)", R"(a\x)", R"(\u12)", R"(\u12g4)", R"(\ud83d)", R"(\ud83dA)",
                          R"(\ud83d\u0041)", R"(\ude00)"}) {
    EXPECT_EQ(UnescapeJson(raw), raw);
  }
}

}  // namespace
}  // namespace steplens::readers
