#include "factory/base/secret_mask.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Words = std::vector<std::string>;

// What is shown of `text` that comes in pieces of `size` bytes.
std::string shown(const Words& words, std::string_view text, std::size_t size) {
  SecretMask hidden(words);
  std::string result;
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size())))
    result += hidden.masked(text.substr(0, size));
  return result + hidden.finish();
}

TEST(HiddenWordsTest, AreFoundWhateverPiecesTheStreamComesIn) {
  const std::string text = "a secret, secretive; sec\nret secsecret secre";
  for (std::size_t size = 1; size <= text.size(); ++size)
    EXPECT_EQ(shown({"secret"}, text, size), "a ***, ***ive; sec\nret sec*** secre") << size;
}

TEST(HiddenWordsTest, TheLongestThatStandsThereCounts) {
  for (std::size_t size : {1, 2, 3, 100}) {
    EXPECT_EQ(shown({"abc", "abcdef"}, "abcabcdefab", size), "******ab") << size;
    EXPECT_EQ(shown({"aab"}, "aaab aaaa", size), "a*** aaaa") << size;
    EXPECT_EQ(shown({"abcd", "bc"}, "abcx", size), "a***x") << size;
  }
}

TEST(HiddenWordsTest, AreNotWaitedForLongerThanNeeded) {
  SecretMask hidden({"secret"});
  EXPECT_EQ(hidden.masked("Downloading 10%\r"), "Downloading 10%\r");
  EXPECT_EQ(hidden.masked("this is no sec"), "this is no ");
  EXPECT_EQ(hidden.masked("tion\n"), "section\n");
  EXPECT_EQ(SecretMask({}).masked("all"), "all");
}

TEST(HiddenWordsTest, OfASecretAreItsLinesAndItsLongWords) {
  EXPECT_EQ(words_of_secret("s3cr3t\n"), Words{"s3cr3t"});
  EXPECT_EQ(words_of_secret("machine h.org login me password Tr0ub4dor&3\n"),
            (Words{"machine h.org login me password Tr0ub4dor&3", "Tr0ub4dor&3", "password"}));
  EXPECT_EQ(words_of_secret("{\"token\": \"abcdefgh\"}\n\n  yes\n"),
            (Words{"{\"token\": \"abcdefgh\"}", "abcdefgh"}));
  EXPECT_EQ(words_of_secret("\n \n"), Words{});
}

TEST(HiddenWordsTest, OfUrlsAreTheirPasswords) {
  EXPECT_EQ(
      passwords_in_urls("http://u:s3cr3t@proxy:3128/ https://x.org/a:b@c ftp://me@h socks5://u:p:q@r@h"),
      (Words{"s3cr3t", "p:q@r"}));
  EXPECT_EQ(passwords_in_urls("http://[::1]:80/ http://u:p@h"), Words{})
      << "of a few letters, every text has them";
}

}  // namespace
}  // namespace kiln
