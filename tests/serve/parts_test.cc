// Tokens, kept answers, counters: what a service is made of.
#include <gtest/gtest.h>

#include <thread>

#include "factory/base/digest.h"
#include "registry/serve/answer_cache.h"
#include "registry/serve/metrics.h"
#include "registry/serve/tokens.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

std::string refusal(const std::string& text) {
  try {
    TokenBook::parse(text, "tokens");
  } catch (const Error& error) {
    return error.format();
  }
  return "";
}

TEST(Tokens, AreKnownByTheirHashAlone) {
  const NewToken made = make_token("ci");
  EXPECT_EQ(made.token.size(), 5u + 64u);
  EXPECT_EQ(made.line, Digest::of(made.token).text() + " ci\n");
  EXPECT_NE(make_token("ci").token, made.token);
  const NewToken other = make_token("b");
  const TokenBook book = TokenBook::parse("# who writes\n\n" + other.line + made.line, "tokens");
  EXPECT_EQ(book.size(), 2u);
  EXPECT_TRUE(book.knows(made.token));
  EXPECT_TRUE(book.knows(other.token));
  EXPECT_FALSE(book.knows(made.line.substr(7, 64)));  // the hash is no token
  EXPECT_FALSE(book.knows(""));
  EXPECT_FALSE(TokenBook().knows(made.token));
}

TEST(Tokens, ALineThatIsNoneHasAPlace) {
  const std::string hash(64, 'a');
  EXPECT_NE(refusal("\nsha256:" + hash + "\n").find("tokens:2:1: error: expected"), std::string::npos);
  for (const std::string& line : {"sha256:" + hash.substr(1) + " x", "sha256:" + std::string(64, 'A') + " x",
                                  "md5:" + hash + " x", hash + " x", "sha256:" + hash + " two words"})
    EXPECT_NE(refusal(line), "") << line;
  for (const char* name : {"", "a b", "a\n", "ä", "a/b"}) EXPECT_THROW(make_token(name), Error) << name;
}

TEST(Tokens, AFileThatAnybodyMayWriteIsRefused) {
  const testing::TemporaryFolder folder;
  const RealFileSystem files;
  EXPECT_THROW(TokenBook::read(files, folder / "none"), Error);
  const auto file = folder.write("tokens", make_token("ci").line);
  EXPECT_EQ(TokenBook::read(files, file).size(), 1u);
  std::filesystem::permissions(file, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THROW(TokenBook::read(files, file), Error);
}

TEST(WrongTokensTest, AreCountedForAWhile) {
  WrongTokens wrong;
  for (int i = 0; i < WrongTokens::kMost; ++i) EXPECT_FALSE(wrong.count("a", 100));
  EXPECT_TRUE(wrong.count("a", 100));
  EXPECT_FALSE(wrong.count("b", 100));
  EXPECT_FALSE(wrong.count("a", 161));
}

TEST(WrongTokensTest, ManyAddressesTakeNoMoreRoom) {
  WrongTokens wrong;
  for (int i = 0; i < 20'000; ++i) EXPECT_FALSE(wrong.count(std::to_string(i), 100));
  EXPECT_TRUE(wrong.count("one more", 100));
  EXPECT_FALSE(wrong.count("17", 100));
  EXPECT_FALSE(wrong.count("one more", 200));  // those of the past went
}

EndpointAnswer answer_of(std::string body) {
  EndpointAnswer answer;
  answer.response.body = std::move(body);
  return answer;
}

TEST(AnswerCacheTest, IsOfOneStateOfTheIndex) {
  AnswerCache cache({1u << 20, std::chrono::minutes(1)});
  const IndexIdentity first{1, 2, 3, 4}, second{1, 2, 3, 5};
  cache.put(first, "a", answer_of("1"));
  EXPECT_EQ(cache.find(first, "a")->response.body, "1");
  EXPECT_FALSE(cache.find(first, "b"));
  EXPECT_FALSE(cache.find(second, "a"));
  cache.put(second, "b", answer_of("2"));
  EXPECT_FALSE(cache.find(first, "a"));
  EXPECT_FALSE(cache.find(second, "a"));
  EXPECT_EQ(cache.find(second, "b")->response.body, "2");
  cache.put(second, "b", answer_of("3"));
  EXPECT_EQ(cache.find(second, "b")->response.body, "3");
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_FALSE(cache.find(second, "b"));
}

TEST(AnswerCacheTest, WhatWasUsedLongestAgoGoes) {
  AnswerCache cache({10'000, std::chrono::minutes(1)});
  const IndexIdentity index{1, 2, 3, 4};
  for (int i = 0; i < 5; ++i) cache.put(index, std::to_string(i), answer_of(std::string(1500, 'x')));
  const std::size_t before = cache.bytes();
  EXPECT_LE(before, 10'000u);
  EXPECT_TRUE(cache.find(index, "1"));
  cache.put(index, "5", answer_of(std::string(1500, 'x')));
  EXPECT_EQ(cache.bytes(), before);
  EXPECT_TRUE(cache.find(index, "1"));
  EXPECT_FALSE(cache.find(index, "2") && cache.find(index, "0"));
  cache.put(index, "large", answer_of(std::string(9000, 'x')));  // it alone would push the others out
  EXPECT_FALSE(cache.find(index, "large"));
  EXPECT_TRUE(cache.find(index, "5"));
}

TEST(AnswerCacheTest, NothingIsKeptForLong) {
  AnswerCache hour({10'000, std::chrono::hours(1)});
  hour.put({}, "a", answer_of("1"));
  EXPECT_TRUE(hour.find({}, "a"));
  hour.put({}, "a", answer_of("2"));
  EXPECT_EQ(hour.find({}, "a")->response.body, "2");
  AnswerCache moment({10'000, std::chrono::milliseconds(1)});
  moment.put({}, "a", answer_of("1"));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(moment.find({}, "a"));
}

TEST(DemandBatchTest, IsWrittenOnceAndKeptWhereItCannotBe) {
  const testing::TemporaryFolder folder;
  DemandBatch batch;
  const Demand demand{"tensorflow 2.1", "zen4", Demand::Outcome::missed, "none", 1, ""};
  batch.add(demand);
  batch.add(demand);
  EXPECT_EQ(batch.size(), 1u);
  batch.write(folder / "none", "2026-11-23");
  EXPECT_EQ(batch.size(), 1u);
  batch.write(folder.path(), "2026-11-23");
  EXPECT_EQ(batch.size(), 0u);
  batch.write(folder.path(), "2026-11-24");
  const auto all = read_demand(folder.path());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].count, 2u);
  EXPECT_EQ(all[0].last, "2026-11-23");
  batch.add({std::string(2000, 'x'), "", Demand::Outcome::missed, "", 1, ""});  // too long to be kept
  batch.write(folder.path(), "2026-11-24");
  EXPECT_EQ(batch.size(), 0u);
}

TEST(DemandBatchTest, HasABound) {
  DemandBatch batch;
  for (std::size_t i = 0; i < DemandBatch::kMostKept + 10; ++i)
    batch.add({std::to_string(i), "", Demand::Outcome::missed, "", 1, ""});
  EXPECT_EQ(batch.size(), DemandBatch::kMostKept);
}

TEST(Metrics, BucketsAreSums) {
  ServeMetrics metrics;
  metrics.count("select", 200, 0.0001);
  metrics.count("select", 200, 0.003);
  metrics.count("select", 404, 9);
  const std::string text = metrics.text({});
  for (const char* line : {"_bucket{le=\"0.0005\"} 1\n", "_bucket{le=\"0.005\"} 2\n", "_bucket{le=\"1\"} 2\n",
                           "_bucket{le=\"+Inf\"} 3\n", "verb=\"select\",code=\"404\"} 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

}  // namespace
}  // namespace kiln
