#include "registry/http/message.h"

#include <gtest/gtest.h>

#include "factory/base/error.h"

namespace kiln {
namespace {

std::string refusal(std::string_view target) {
  try {
    parse_target(target);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.message();
  }
  return "";
}

TEST(HttpTarget, IsDecodedInPieces) {
  const HttpTarget target =
      parse_target("/v1/images/ethcscs%2Fmpich/a+b%20c?limit=3&match=target%3Dzen*+x&flag&");
  EXPECT_EQ(target.segments, (std::vector<std::string>{"v1", "images", "ethcscs/mpich", "a+b c"}));
  ASSERT_EQ(target.query.size(), 3u);
  EXPECT_EQ(target.query[1], (std::pair<std::string, std::string>{"match", "target=zen* x"}));
  EXPECT_EQ(target.query[2], (std::pair<std::string, std::string>{"flag", ""}));
  EXPECT_TRUE(parse_target("/").segments.empty());
  EXPECT_TRUE(parse_target("/?").query.empty());
}

TEST(HttpTarget, OtherFormsAreForProxies) {
  for (const char* target : {"", "x:443", "*", "healthz", "?a=b", "ftp://x/healthz"})
    EXPECT_NE(refusal(target).find("begins with a slash"), std::string::npos) << target;
}

// RFC 9112, section 3.2.2: an origin server takes it, too.
TEST(HttpTarget, AHostMayStandBefore) {
  for (const char* target :
       {"http://x/v1/images?limit=3", "HTTPS://images.example.org:8642/v1/images?limit=3",
        "http://[::1]:8642/v1/images?limit=3"}) {
    const HttpTarget read = parse_target(target);
    EXPECT_EQ(read.segments, (std::vector<std::string>{"v1", "images"})) << target;
    EXPECT_EQ(read.query.size(), 1u) << target;
  }
  EXPECT_TRUE(parse_target("http://x").segments.empty());
  EXPECT_EQ(parse_target("http://x?a=b").query.size(), 1u);
  for (const char* target : {"http://", "http:///healthz", "http://me@x/healthz", "http://?a=b"})
    EXPECT_NE(refusal(target).find("no host"), std::string::npos) << target;
  EXPECT_NE(refusal("http://x/a/../b").find("has a segment"), std::string::npos);
}

TEST(HttpTarget, NoSegmentLeadsElsewhere) {
  for (const char* target : {"/..", "/a/../b", "/a/%2e%2e/b", "/%2E", "/a/.", "/a/.%2e"})
    EXPECT_NE(refusal(target).find("has a segment"), std::string::npos) << target;
  for (const char* target : {"//a", "/a/", "/a//b"})
    EXPECT_NE(refusal(target).find("empty segment"), std::string::npos) << target;
  EXPECT_EQ(parse_target("/..%2f..%2fetc").segments.front(), "../../etc");  // one name, and no path
}

TEST(HttpTarget, WhatIsNoTextIsRefused) {
  for (const char* target :
       {"/%", "/%4", "/%zz", "/%00", "/%0a", "/%7f", "/%ff", "/%c0%ae", "/a?b=%", "/a?%00=b"})
    EXPECT_NE(refusal(target).find("percent-encoded"), std::string::npos) << target;
  for (std::string_view target :
       {"/a b", "/a\tb", "/a#b", "/a\\b", "/\xc3\xa4", "/a\"", "/<a>", "/a|b", "/a^`"})
    EXPECT_NE(refusal(target).find("a character"), std::string::npos) << target;
  EXPECT_NE(refusal(std::string_view("/a\0b", 4)).find("a character"), std::string::npos);
}

TEST(HttpTarget, AQueryIsUnambiguousAndShort) {
  EXPECT_EQ(refusal("/a?b=1&c=2&b=3"), "the query has 'b' twice");
  EXPECT_EQ(refusal("/a?b=1&%62=3"), "the query has 'b' twice");
  EXPECT_EQ(refusal("/a?=1"), "the query has a member without a name");
  std::string many = "/a?";
  for (int i = 0; i < 65; ++i) many += "n" + std::to_string(i) + "&";
  EXPECT_EQ(refusal(many), "the query has too many members");
  std::string deep;
  for (int i = 0; i < 65; ++i) deep += "/a";
  EXPECT_EQ(refusal(deep), "the path has too many segments");
}

TEST(HttpTarget, PlusIsABlankInQueriesOnly) {
  EXPECT_EQ(percent_decoded("a+b", true), "a b");
  EXPECT_EQ(percent_decoded("a+b", false), "a+b");
  EXPECT_EQ(percent_decoded("%2B", true), "+");
  EXPECT_EQ(percent_decoded("%e2%82%ac", false), "€");
}

}  // namespace
}  // namespace kiln
