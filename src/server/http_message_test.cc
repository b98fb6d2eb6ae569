#include "server/http_message.h"

#include <gtest/gtest.h>

namespace steplens::server {
namespace {

using State = HttpRequestParser::State;

// Feeds a text in pieces of a size and goes on after the head.
struct Parsed {
  HttpRequestParser parser;
  std::string rest;

  explicit Parsed(const std::string& text, size_t piece = SIZE_MAX) {
    for (size_t at = 0; at < text.size(); at += std::min(piece, text.size() - at)) {
      rest += text.substr(at, piece);
      State before;
      do {
        before = parser.state();
      } while (parser.Advance(rest) != before);
    }
  }
  int status() const { return parser.state() == State::kFailed ? parser.status() : 0; }
};

int StatusOfText(const std::string& text) {
  const int whole = Parsed(text).status();
  EXPECT_EQ(Parsed(text, 1).status(), whole) << text.substr(0, 200);
  return whole;
}

TEST(HttpRequestParser, ReadsARequestInPiecesOfAnySize) {
  const std::string text =
      "POST /a%20b/c?x=1+2&y=%26&x=9&z HTTP/1.1\r\nHost: localhost:1\r\nCONTENT-length: 5\r\n"
      "X-A:\t b c \r\n\r\nhelloGET / HTTP/1.1\r\n";
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{1000}}) {
    const Parsed parsed(text, piece);
    ASSERT_EQ(parsed.parser.state(), State::kDone) << piece;
    const HttpRequest& request = parsed.parser.request();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/a b/c");
    EXPECT_EQ(request.query.at("x"), "1 2");
    EXPECT_EQ(request.query.at("y"), "&");
    EXPECT_EQ(request.query.at("z"), "");
    EXPECT_EQ(request.Header("x-a"), "b c");
    EXPECT_EQ(request.Header("x-b"), "");
    EXPECT_EQ(request.body, "hello");
    EXPECT_TRUE(request.keeps_alive);
    EXPECT_EQ(parsed.rest, "GET / HTTP/1.1\r\n");
  }
}

TEST(HttpRequestParser, JoinsChunks) {
  const std::string text =
      "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "3\r\nabc\r\n0a;name=value\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nrest";
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{5}, size_t{1000}}) {
    const Parsed parsed(text, piece);
    ASSERT_EQ(parsed.parser.state(), State::kDone) << parsed.parser.problem();
    EXPECT_EQ(parsed.parser.request().body, "abc0123456789");
    EXPECT_EQ(parsed.rest, "rest");
  }
}

TEST(HttpRequestParser, StopsAfterTheHeadOnce) {
  HttpRequestParser parser;
  std::string input = "POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nab";
  EXPECT_EQ(parser.Advance(input), State::kBody);
  EXPECT_EQ(input, "ab");
  EXPECT_TRUE(parser.expects_continue());
  EXPECT_EQ(parser.Advance(input), State::kDone);
}

TEST(HttpRequestParser, KnowsWhetherTheConnectionStays) {
  EXPECT_FALSE(Parsed("GET / HTTP/1.0\r\n\r\n").parser.request().keeps_alive);
  EXPECT_FALSE(Parsed("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").parser.request().keeps_alive);
  EXPECT_TRUE(
      Parsed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").parser.request().keeps_alive);
}

TEST(HttpRequestParser, HoldsNoMoreThanTheLimits) {
  const std::string get = "GET / HTTP/1.1\r\n";
  EXPECT_EQ(Parsed(get + std::string(kMaxHeadBytes + 1, 'a')).status(), 431);
  EXPECT_EQ(Parsed(get + "X: " + std::string(kMaxHeadBytes, 'a') + "\r\n\r\n").status(), 431);
  std::string many = get;
  for (size_t i = 0; i < kMaxHeaders; ++i) many += "a: b\r\n";
  EXPECT_EQ(StatusOfText(many + "\r\n"), 0);
  EXPECT_EQ(StatusOfText(many + "a: b\r\n\r\n"), 431);
  EXPECT_EQ(Parsed("GET /" + std::string(kMaxTargetBytes, 'a') + " HTTP/1.1\r\n\r\n").status(),
            414);
  EXPECT_EQ(StatusOfText("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n"), 413);
  EXPECT_EQ(StatusOfText("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
            413);
  const std::string chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(StatusOfText(chunked + "100001\r\n"), 413);
  const std::string full = "100000\r\n" + std::string(kMaxBodyBytes, 'x') + "\r\n";
  EXPECT_EQ(Parsed(chunked + full + "0\r\n\r\n").status(), 0);
  EXPECT_EQ(Parsed(chunked + full + "1\r\nx\r\n").status(), 413);
  EXPECT_EQ(StatusOfText(chunked + "0\r\nA: " + std::string(1100, 'x') + "\r\n"), 431);
}

TEST(HttpRequestParser, RefusesWhatCouldBeUnderstoodInTwoWays) {
  const std::string get = "GET / HTTP/1.1\r\n";
  const std::string post = "POST / HTTP/1.1\r\n";
  for (const std::string& text :
       {std::string("GET /\r\n\r\n"), std::string("G T / HTTP/1.1\r\n\r\n"),
        std::string("GET http://a/ HTTP/1.1\r\n\r\n"), std::string("GET / a HTTP/1.1\r\n\r\n"),
        get + " folded: x\r\n\r\n", get + "name : x\r\n\r\n", get + "no colon\r\n\r\n",
        get + "a: b\nc: d\r\n\r\n", get + "Host: a\r\nHost: b\r\n\r\n",
        post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        post + "Content-Length: 1, 1\r\n\r\n", post + "Content-Length: -1\r\n\r\n",
        post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n" + std::string(70, '0')})
    EXPECT_EQ(StatusOfText(text), 400) << text;
  EXPECT_EQ(StatusOfText(post + "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501);
  EXPECT_EQ(StatusOfText(post + "Content-Encoding: gzip\r\n\r\n"), 415);
  EXPECT_EQ(StatusOfText("GET / HTTP/2.0\r\n\r\n"), 505);
}

TEST(DecodePercent, LeavesWhatIsNoEscape) {
  EXPECT_EQ(DecodePercent("%41%zz%4+%", false), "A%zz%4+%");
  EXPECT_EQ(DecodePercent("a+b%2B", true), "a b+");
}

}  // namespace
}  // namespace steplens::server
