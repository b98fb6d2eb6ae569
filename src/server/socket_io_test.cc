#include "server/socket_io.h"

#include <gtest/gtest.h>

namespace steplens::server {
namespace {

TEST(HeadOf, NoPageMayShowUsInAFrameUnlessTheAnswerSaysSo) {
  Response response;
  const HttpRequest request;
  EXPECT_NE(HeadOf(response, request, true).find("frame-ancestors 'none'\r\n"), std::string::npos);
  response.headers.emplace_back("Content-Security-Policy", PagePolicy(kLocalPages));
  const std::string head = HeadOf(response, request, true);
  EXPECT_EQ(head.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_NE(head.find("frame-ancestors 'self' http://localhost:* http://127.0.0.1:*\r\n"),
            std::string::npos);
  EXPECT_NE(head.find("default-src 'self'"), std::string::npos);
}

}  // namespace
}  // namespace steplens::server
