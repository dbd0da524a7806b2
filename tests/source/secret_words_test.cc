// What is taken out of a text, and what stays.
#include "factory/source/secret_words.h"

#include <gtest/gtest.h>

#include <map>

namespace kiln {
namespace {

const std::string kGitHub = "ghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";

std::string without(const std::string& text) {
  std::vector<RedactedSecret> found;
  return redacted(text, found);
}

TEST(Redacted, IsTheValueOfAVariable) {
  const std::map<std::string, std::string> cases = {
      {"ENV API_TOKEN=hunter2 A=1", "ENV API_TOKEN=REDACTED A=1"},
      {"ENV API_TOKEN hunter2 and more", "ENV API_TOKEN REDACTED"},
      {"env Api_Token\thunter2", "env Api_Token\tREDACTED"},
      {"ENV API_TOKEN=\"hunter 2\" A=1", "ENV API_TOKEN=REDACTED A=1"},
      {"ENV API_TOKEN='hunter 2'\\", "ENV API_TOKEN=REDACTED\\"},
      {"ARG DB_PASSWORD=hunter2", "ARG DB_PASSWORD=REDACTED"},
      {"  export DB_PASSWORD=hunter2; make", "  export DB_PASSWORD=REDACTED; make"},
      {"DB_PASSWORD=hunter2&&make", "DB_PASSWORD=REDACTED&&make"},
      {"DB_PASSWORD=hun\"ter 2\" make", "DB_PASSWORD=REDACTED make"},
      {"DB_PASSWORD+=hunter2", "DB_PASSWORD+=REDACTED"},
      {"RUN [\"sh\", \"-c\", \"DB_PASSWORD=hunter2 make\"]", "RUN [\"sh\", \"-c\", \"DB_PASSWORD=REDACTED"},
      {"echo 'export DB_PASSWORD=hunter2' >> f", "echo 'export DB_PASSWORD=REDACTED' >> f"},
      {"  DB_PASSWORD = hunter2", "  DB_PASSWORD = REDACTED"},
      {"login --password=hunter2 me", "login --password=REDACTED me"},
      {"curl https://a.org/x?token=hunter2&y=1", "curl https://a.org/x?token=REDACTED&y=1"},
      {"A=1 X=q7Zp2LxV9aTn4RkW8sYd3MfB6cHj1Eug", "A=1 X=REDACTED"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_TRUE(without(text).starts_with(expected)) << without(text);
}

TEST(Redacted, AreTokensKeysAndPasswordsOfUrls) {
  EXPECT_EQ(without("git clone https://x:" + kGitHub + "@github.com/a/b"),
            "git clone https://x:REDACTED@github.com/a/b");
  EXPECT_EQ(without("a https://u:p@a.org https://v:q@b.org"),
            "a https://u:REDACTED@a.org https://v:REDACTED@b.org");
  EXPECT_EQ(without("echo " + kGitHub + " " + kGitHub), "echo REDACTED REDACTED");
  EXPECT_EQ(without("-----BEGIN RSA PRIVATE KEY-----\nMIIBVQIBADANBgkqhkiG\nAb=\n-----END RSA PRIVATE "
                    "KEY-----\nMIIBVQIBADANBgkqhkiG\n"),
            "-----BEGIN RSA PRIVATE KEY-----\nREDACTED\nREDACTED\n-----END RSA PRIVATE "
            "KEY-----\nMIIBVQIBADANBgkqhkiG\n");
  EXPECT_EQ(without("echo '-----BEGIN PRIVATE KEY-----\\nMIIBVQIBADANBgkqhkiG\\n-----END PRIVATE KEY-----'"),
            "echo '-----BEGIN PRIVATE KEY-----\\REDACTED\\n-----END PRIVATE KEY-----'");
}

TEST(Redacted, IsNothingElse) {
  for (const char* text :
       {"ENV A=1 B=2", "ENV API_TOKEN=$TOKEN", "ENV API_TOKEN=${TOKEN}", "ARG API_TOKEN",
        "ARG API_TOKEN=", "ENV TOKENIZERS_PARALLELISM=false", "SECRET_FILE=/run/secrets/a",
        "token = tokenizer(x)", "login(token=token)", "f(a, token=token, b=2)", "git clone https://u@a.org/x",
        "-----BEGIN CERTIFICATE-----\nMIIBVQIBADANBgkqhkiG\n-----END CERTIFICATE-----", "", "\n\n", "=",
        "a\n=b"})
    EXPECT_EQ(without(text), text);
}

TEST(Redacted, IsNoSecretAnyMore) {
  const std::string once = without("ENV API_TOKEN=hunter2 B_PASSWORD=\"a b c\"\nRUN x " + kGitHub);
  EXPECT_EQ(without(once), once);
  EXPECT_EQ(secret_in("API_TOKEN", kRedacted), "");
}

TEST(Redacted, SaysTheLinesAndWhy) {
  std::vector<RedactedSecret> found;
  redacted("FROM a\nENV API_TOKEN=hunter2 \\\n    B_TOKEN=hunter3\nRUN x " + kGitHub + "\n", found);
  EXPECT_EQ(found, (std::vector<RedactedSecret>{{2, "API_TOKEN looks like a secret by its name"},
                                                {3, "B_TOKEN looks like a secret by its name"},
                                                {4, "this is a GitHub token"}}));
}

TEST(Redacted, OfAnUnknownLanguageAreTokensOnly) {
  std::vector<RedactedSecret> found;
  EXPECT_EQ(redacted_tokens("API_TOKEN=hunter2\n" + kGitHub + "\n", found), "API_TOKEN=hunter2\nREDACTED\n");
  EXPECT_EQ(found.size(), 1u);
}

}  // namespace
}  // namespace kiln
