// Passwords, tokens and keys. Each case: a text, and what is found in it.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::expect_findings;
using testing::kShell;

TEST(Passwords, InUrlsAreFound) {
  expect_findings("a.sh", kShell,
                  {
                      {"tool https://user:hunter2@a.org/x\n", "2:6-34 KL061 this URL has a password"},
                      {"tool https://user@a.org/x\n", ""},
                      {"tool \"https://user:$PASS@a.org/x\"\n", ""},
                      {"tool https://a.org:80/@x\n", ""},
                      {"tool https://a.org/b https://u:p@a.org\n", "2:22-39 KL061 this URL has a password"},
                      {"tool u:p@a.org\n", ""},
                      {"tool https://user:@a.org/x\n", ""},
                      {"tool \"https://a.org:80 u@x\"\n", ""},
                  });
}

TEST(Tokens, AreFound) {
  expect_findings(
      "a.sh", kShell,
      {
          {"tool ghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1\n", "2:6-46 KL060 this is a GitHub token"},
          {"tool ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", ""},
          {"tool xghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1\n", ""},
          {"tool \"xghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1 ghp_b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2\"\n",
           "2:6-90 KL060 this is a GitHub token"},
          {"tool glpat-aaaaaaaaaaaaaaaaaaaa\n", "2:6-32 KL060 this is a GitLab token"},
          {"tool glpat-aaaaaaaaaaaaaaaaaaa\n", ""},
          {"tool AKIAA1A1A1A1A1A1A1A1\n", "2:6-26 KL060 this is an AWS access key"},
          {"tool hf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "2:6-39 KL060 this is a Hugging Face token"},
          {"tool pypi-AgEIaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "2:6-45 KL060 this is a PyPI token"},
          {"tool nvapi-a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_a_\n", "2:6-52 KL060 this is an NVIDIA API key"},
          {"tool \"-----BEGIN RSA PRIVATE KEY-----\"\n", "2:6-39 KL060 this is a private key"},
          {"tool \"-----BEGIN CERTIFICATE-----\"\n", ""},
          {"tool \"PRIVATE KEY----- -----BEGIN \"\n", ""},
      });
}

TEST(Variables, AreSecretByNameOrValue) {
  expect_findings(
      "a.sh", kShell,
      {
          {"DB_PASSWORD=hunter2hunter2\nls\n", "2:1-27 KL060 DB_PASSWORD looks like a secret by its name"},
          {"db_passwd=hunter2\nls\n", "2:1-18 KL060 db_passwd looks like a secret by its name"},
          {"UPLOAD_PASS=hunter2\nls\n", "2:1-20 KL060 UPLOAD_PASS looks like a secret by its name"},
          {"PASS=hunter2\nls\n", ""},
          {"SECOND_PASS=hunter2\nls\n", ""},
          {"PASSPHRASE=hunter2\nls\n", "2:1-19 KL060 PASSPHRASE looks like a secret by its name"},
          {"APP_SECRET=hunter2\nls\n", "2:1-19 KL060 APP_SECRET looks like a secret by its name"},
          {"API_TOKEN=hunter2\nls\n", "2:1-18 KL060 API_TOKEN looks like a secret by its name"},
          {"APIKEY=hunter2\nls\n", "2:1-15 KL060 APIKEY looks like a secret by its name"},
          {"API_KEY=hunter2\nls\n", "2:1-16 KL060 API_KEY looks like a secret by its name"},
          {"LICENSE_KEY=hunter2\nls\n", "2:1-20 KL060 LICENSE_KEY looks like a secret by its name"},
          {"PRIVATE_KEY=hunter2\nls\n", "2:1-20 KL060 PRIVATE_KEY looks like a secret by its name"},
          {"KEY_API=hunter2\nls\n", ""},
          {"SORT_KEY=hunter2\nls\n", ""},
          {"SECRET_FILE=hunter2\nls\n", ""},
          {"TOKEN_URL=hunter2\nls\n", ""},
          {"SECRET_ID=hunter2\nls\n", ""},
          {"PASSWORDS=hunter2\nls\n", ""},
          {"PASSWORD=abc\nls\n", ""},
          {"PASSWORD=abcd\nls\n", "2:1-14 KL060 PASSWORD looks like a secret by its name"},
          {"PASSWORD=none\nls\n", ""},
          {"PASSWORD=disabled\nls\n", ""},
          {"PASSWORD=/run/secret\nls\n", ""},
          {"PASSWORD=$OTHER\nls\n", ""},
          {"PASSWORD=\nls\n", ""},
          {"X=q7Zp2LxV9aTn4RkW8sYd3MfB6cHj1Eug\nls\n",
           "2:1-35 KL060 the value of X looks like a secret: it is random"},
          {"X=q7Zp2LxV9aTn4RkW8sYd3MfB6cHj1Eu\nls\n", ""},
          {"X=q7zp2lxv9atn4rkw8syd3mfb6chj1eug\nls\n", ""},
          {"X=qZpLxVaTnRkWsYdMfBcHjEugqZpLxVaT\nls\n", ""},
          {"X=q7Zp2LxV9aTn4RkW8sYd3MfB6cHj1E/g\nls\n", ""},
          {"X=aA1aA1aA1aA1aA1aA1aA1aA1aA1aA1aA1\nls\n", ""},
          {"export DB_PASSWORD=hunter2hunter2 OTHER=a\nls\n",
           "2:8-34 KL060 DB_PASSWORD looks like a secret by its name"},
      });
}

}  // namespace
}  // namespace kiln::lint
