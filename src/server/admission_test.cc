#include "server/admission.h"

#include <gtest/gtest.h>

namespace steplens::server {
namespace {

const Admission kLocal{"127.0.0.1", "secret", "steplens_80"};

int StatusOf(const RequestHead& head, const Admission& admission = kLocal) {
  const auto refusal = Refuse(head, admission);
  return refusal ? refusal->status : 200;
}

TEST(Admission, LetsOurPagePass) {
  EXPECT_EQ(StatusOf({"GET", "/", "localhost:80", "", "a=b; steplens_80=secret", "", "", ""}), 200);
  EXPECT_EQ(StatusOf({"GET", "/", "[::1]:80", "", "", "secret", "", ""}), 200);
  EXPECT_EQ(StatusOf({"POST", "/x", "127.0.0.1:9", "http://127.0.0.1:9", "", "secret", "1",
                      "application/json; charset=utf-8"}),
            200);
}

TEST(Admission, RefusesNamesThatAreNotOurs) {
  for (const char* host :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"})
    EXPECT_EQ(StatusOf({"GET", "/", host, "", "", "secret", "", ""}), 403) << host;
}

TEST(Admission, RefusesPagesOfOtherSites) {
  for (const char* origin :
       {"null", "http://evil.example", "http://localhost:81", "file://localhost:80"})
    EXPECT_EQ(StatusOf({"GET", "/", "localhost:80", origin, "", "secret", "", ""}), 403) << origin;
}

TEST(Admission, NeedsTheWholeToken) {
  for (const char* cookies :
       {"", "steplens_80=secre", "steplens_80=secret2", "steplens_81=secret", "steplens_80", ";;="})
    EXPECT_EQ(StatusOf({"GET", "/", "localhost", "", cookies, "", "", ""}), 401) << cookies;
}

TEST(Admission, WithoutTokenStillChecksHostAndHeader) {
  const Admission open{"127.0.0.1", "", "steplens_80"};
  EXPECT_EQ(StatusOf({"GET", "/", "localhost", "", "", "", "", ""}, open), 200);
  EXPECT_EQ(StatusOf({"GET", "/", "evil.example", "", "", "", "", ""}, open), 403);
  EXPECT_EQ(StatusOf({"POST", "/", "localhost", "", "", "", "", "application/json"}, open), 403);
  EXPECT_EQ(StatusOf({"POST", "/", "localhost", "", "", "", "1", "text/plain"}, open), 415);
  EXPECT_EQ(StatusOf({"PUT", "/", "localhost", "", "", "", "1", ""}, open), 405);
}

}  // namespace
}  // namespace steplens::server
