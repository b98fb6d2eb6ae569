#include "server/admission.h"

#include <gtest/gtest.h>

#include "server/address_tokens.h"

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
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80",
        "127.0.0.1:18891.evil.com", "[::1]evil.com", "[::1]:1@evil.com", "[::1", "[]", "[::1]x:80",
        "localhost:", "localhost:80:80", "localhost:123456", "localhost:8a", ":80", "localhost/x",
        "localhost,evil.example", "evil.example@localhost", "localhost."})
    EXPECT_EQ(StatusOf({"GET", "/", host, "", "", "secret", "", ""}), 403) << host;
  const Admission everywhere{"0.0.0.0", "secret", "steplens_80"};
  EXPECT_EQ(StatusOf({"GET", "/", "some-host.lan:80", "", "", "secret", "", ""}, everywhere), 200);
  EXPECT_EQ(StatusOf({"GET", "/", "some host", "", "", "secret", "", ""}, everywhere), 403);
  const Admission v6{"fe80::1", "secret", "steplens_80"};
  EXPECT_EQ(StatusOf({"GET", "/", "[FE80::1]:80", "", "", "secret", "", ""}, v6), 200);
}

TEST(Admission, RefusesWhatOtherSitesLoad) {
  const Admission open{"127.0.0.1", "", "steplens_80"};
  const auto head = [](const char* site, const char* mode) {
    return RequestHead{"GET", "/", "localhost", "", "", "secret", "", "", site, mode};
  };
  for (const Admission& admission : {kLocal, open}) {
    EXPECT_EQ(StatusOf(head("cross-site", "navigate"), admission), 403);
    EXPECT_EQ(StatusOf(head("cross-site", "no-cors"), admission), 403);
    EXPECT_EQ(StatusOf(head("same-site", "no-cors"), admission), 403);
    EXPECT_EQ(StatusOf(head("same-site", "navigate"), admission), 200);
    EXPECT_EQ(StatusOf(head("same-origin", "cors"), admission), 200);
    EXPECT_EQ(StatusOf(head("none", "navigate"), admission), 200);
  }
  // A link with a token may come from anywhere, as long as the user follows it.
  EXPECT_FALSE(Refuse(head("cross-site", "navigate"), kLocal, true));
  EXPECT_TRUE(Refuse(head("cross-site", "no-cors"), kLocal, true));
}

TEST(AddressTokens, ServeOnce) {
  AddressTokens tokens;
  const std::string a = *tokens.Issue();
  const std::string b = *tokens.Issue();
  EXPECT_EQ(a.size(), 32u);
  EXPECT_NE(a, b);
  EXPECT_FALSE(tokens.Spend(""));
  EXPECT_FALSE(tokens.Spend(a.substr(1)));
  EXPECT_TRUE(tokens.IsUnspent(a));
  EXPECT_TRUE(tokens.Spend(a));
  EXPECT_FALSE(tokens.IsUnspent(a));
  EXPECT_FALSE(tokens.Spend(a));
  EXPECT_TRUE(tokens.Spend(b));
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
