#include "factory/distribution/registry_answer.h"

#include <gtest/gtest.h>

#include "factory/base/digest.h"
#include "factory/base/error.h"

namespace kiln {
namespace {

HttpAnswer answer(int status, std::string body, std::multimap<std::string, std::string> headers = {}) {
  return {status, std::move(headers), std::move(body)};
}

TEST(RegistryAnswer, SaysTheFirstErrorInOneLine) {
  EXPECT_EQ(said_by(answer(403, R"({"errors":[{"code":"DENIED","message":"not\nyours"},{"code":"X"}]})")),
            "403 DENIED: not yours");
  EXPECT_EQ(said_by(answer(403, "<html>a proxy</html>")), "403 Forbidden");
  EXPECT_EQ(said_by(answer(418, "")), "418");
  EXPECT_EQ(said_by(answer(404, R"({"errors":[{"code":5}]})")), "404 Not Found");
  EXPECT_EQ(said_by(answer(400, R"({"errors":"no"})")), "400 Bad Request");
  const std::string text(1000, 'x');
  EXPECT_LT(said_by(answer(400, R"({"errors":[{"code":"C","message":")" + text + "\"}]}")).size(), 320u);
}

TEST(RegistryAnswer, KnowsWhatPasses) {
  for (int status : {429, 500, 502, 503, 504}) EXPECT_TRUE(passes(answer(status, ""))) << status;
  for (int status : {200, 201, 202, 400, 401, 403, 404, 405, 412, 501, 507})
    EXPECT_FALSE(passes(answer(status, ""))) << status;
  EXPECT_FALSE(passes(answer(500, R"({"errors":[{"detail":"write: no space left on device"}]})")));
}

TEST(RegistryAnswer, ReadsChallenges) {
  const Challenge bearer = challenge_in(
      answer(401, "",
             {{"www-authenticate",
               "Bearer realm=\"https://auth.site/token\",service=\"registry, site\",scope=\"x\""}}));
  EXPECT_TRUE(bearer.is_bearer);
  EXPECT_EQ(bearer.realm, "https://auth.site/token");
  EXPECT_EQ(bearer.service, "registry, site");
  EXPECT_FALSE(challenge_in(answer(401, "", {{"www-authenticate", "Basic realm=\"kiln\""}})).is_bearer);
  EXPECT_FALSE(challenge_in(answer(401, "")).is_bearer);
  const Challenge bare = challenge_in(answer(401, "", {{"www-authenticate", "Bearer realm=\"https://a"}}));
  EXPECT_TRUE(bare.is_bearer);
  EXPECT_EQ(bare.realm, "");
}

TEST(RegistryAnswer, FindsTheBearerChallengeHoweverItIsWritten) {
  for (const char* header : {
           R"(bearer Realm="https://a/t",Service="s")",
           R"(BEARER REALM="https://a/t", SERVICE=s, scope="x")",
           R"(Basic realm="r, Bearer realm=no", Bearer realm="https://a/t",service="s")",
           R"(Negotiate YIIB+/==, Bearer service="s" , realm="https://a/t")",
           R"(, Bearer realm = "https:\/\/a/t" , service="s")",
       }) {
    const Challenge found = challenge_in(answer(401, "", {{"www-authenticate", header}}));
    EXPECT_TRUE(found.is_bearer) << header;
    EXPECT_EQ(found.realm, "https://a/t") << header;
    EXPECT_EQ(found.service, "s") << header;
  }
  EXPECT_TRUE(challenge_in(answer(401, "",
                                  {{"www-authenticate", "Basic realm=\"r\""},
                                   {"www-authenticate", "Bearer realm=\"https://a/t\""}}))
                  .is_bearer);
  for (const char* header :
       {"=", "\"", ",,,", "Basic", "Basic realm=\"Bearer", "a=b=c \"", "Bearerx realm=\"https://a\""})
    EXPECT_FALSE(challenge_in(answer(401, "", {{"www-authenticate", header}})).is_bearer) << header;
}

TEST(RegistryAnswer, FollowsLinks) {
  EXPECT_EQ(next_page(answer(200, "", {{"link", "</v2/a/tags/list?last=b&n=2>; rel=\"next\""}})),
            "/v2/a/tags/list?last=b&n=2");
  EXPECT_EQ(next_page(answer(200, "", {{"link", "</v2/a>; rel=\"prev\""}})), "");
  EXPECT_EQ(next_page(answer(200, "", {{"link", ">next<"}})), "");
  for (const char* header : {
           R"(</first>; rel="prev", <list?last=b>; rel="next")",
           R"(<list?last=b>;rel=next)",
           R"(<list?last=b> ; title="a, <b>; rel=prev" ; REL="last Next")",
           R"(</first>; flag; rel=first, , <list?last=b>; rel="next"; rel="prev")",
       })
    EXPECT_EQ(next_page(answer(200, "", {{"link", header}})), "list?last=b") << header;
  EXPECT_EQ(next_page(answer(200, "", {{"link", "</a>; rel=prev"}, {"link", "</b>; rel=next"}})), "/b");
  for (const char* header : {R"(</next>; rel="prev")", R"(</a>; rel="nextone")", "</a>; rel=\"next",
                             "</a; rel=next", "</a>; title=next", R"(</a>; rel="prev"; rel="next")"})
    EXPECT_EQ(next_page(answer(200, "", {{"link", header}})), "") << header;
  EXPECT_EQ(next_page(answer(200, "")), "");
}

TEST(RegistryAnswer, TakesTagsAsTheyAre) {
  EXPECT_EQ(tags_in(R"({"name":"a","tags":["b","a"]})", "url"), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(tags_in(R"({"name":"a","tags":null})", "url"), std::vector<std::string>());
  EXPECT_THROW(tags_in("<html>", "url"), Error);
}

TEST(RegistryAnswer, TakesATokenByEitherName) {
  EXPECT_EQ(token_in(answer(200, R"({"token":"one"})")), "one");
  EXPECT_EQ(token_in(answer(200, R"({"access_token":"two"})")), "two");
  EXPECT_THROW(token_in(answer(200, R"({"token":5})")), Error);
  EXPECT_THROW(token_in(answer(200, "")), Error);
  EXPECT_EQ(token_in(answer(200, R"({"token":"","access_token":"two"})")), "two");
  EXPECT_EQ(token_in(answer(200, R"({"token":null,"access_token":"two"})")), "two");
  EXPECT_THROW(token_in(answer(200, R"({"token":"","access_token":""})")), Error);
}

TEST(RegistryAnswer, TakesNoTokenThatWritesHeaders) {
  for (const char* token :
       {R"(a\r\nHost: evil)", R"(a\nb)", R"(a b)", R"(a\u0000b)", R"(\u00e9)", R"(a\u007f)"})
    EXPECT_THROW(token_in(answer(200, std::string(R"({"token":")") + token + "\"}")), Error) << token;
}

TEST(RegistryAnswer, WritesWhatStandsInAQuery) {
  EXPECT_EQ(in_query("sha256:ab/c d~"), "sha256%3Aab%2Fc%20d~");
  EXPECT_EQ(digest_in("sha256:" + std::string(64, 'a')), Digest::from_hex(std::string(64, 'a')));
  EXPECT_EQ(digest_in("sha512:" + std::string(64, 'a')), std::nullopt);
  EXPECT_EQ(digest_in("sha256:" + std::string(64, 'G')), std::nullopt);
}

TEST(Base64, GoesThereAndBack) {
  // RFC 4648, section 10.
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_of("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_of(""), "");
  for (const std::string& text : {std::string(), std::string("f"), std::string("fo"), std::string("foo"),
                                  std::string("user:pass\0word", 14)})
    EXPECT_EQ(from_base64(base64_of(text)), text);
  EXPECT_EQ(from_base64("Zm9"), std::nullopt);
  for (const char* text : {"Zm9*", "    ", "  ==", "====", "A===", "=AAA", "AA=A", "Zm9v\n\n\n\n"})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace kiln
