// What an import does not carry over: passwords, tokens, keys.
#include "import_fixture.h"

namespace kiln::testing {
namespace {

const std::string kToken = "ghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";

// Everything that is written or shown.
std::string all_of(const Import& import) {
  std::string text = to_json(import).dump();
  for (const auto& [path, bytes] : import.files) text += path + "\n" + bytes + "\n";
  for (const ImportNote& note : import.notes) text += format(note) + "\n";
  for (const std::string& line : lines(import)) text += line + "\n";
  return text;
}

TEST(ImportedSecrets, AreRedactedEverywhere) {
  const Import import = import_files(
      {{"x-1.Dockerfile",
        "FROM debian:12\nENV API_TOKEN=hunter2hunter2 A=1\nENV COPY_OF=$API_TOKEN\n"
        "ARG DB_PASSWORD=s3cr3ts3cr3t\n"
        "RUN export OTHER_TOKEN=hunter3 && git clone https://me:hunter4@host/x && x " +
            kToken + "\nHEALTHCHECK CMD x --password=hunter5\nCOPY netrc /root/\n"},
       {"x-1.def", "Bootstrap: docker\nFrom: debian:12\n%environment\n  export API_TOKEN=hunter6hunter6\n"},
       {"netrc", "token " + kToken + "\n"}});
  const std::string text = all_of(import);
  for (const char* secret : {"hunter", "s3cr3t", "ghp_a"})
    EXPECT_EQ(text.find(secret), std::string::npos) << text.substr(text.find(secret) - 60, 120);
  EXPECT_EQ(
      remarks_of(import, "secret"),
      (Words{
          "x-1.Dockerfile:2: API_TOKEN looks like a secret by its name: REDACTED is written in its place",
          "x-1.Dockerfile:4: DB_PASSWORD looks like a secret by its name: REDACTED is written in its place",
          "x-1.Dockerfile:5: OTHER_TOKEN looks like a secret by its name: REDACTED is written in its place",
          "x-1.Dockerfile:5: this URL has a password: REDACTED is written in its place",
          "x-1.Dockerfile:5: this is a GitHub token: REDACTED is written in its place",
          "x-1.Dockerfile:6: password looks like a secret by its name: REDACTED is written in its place",
          "x-1.Dockerfile:7: 'netrc', line 1: this is a GitHub token: REDACTED is written in its place",
          "x-1.def:4: API_TOKEN looks like a secret by its name: REDACTED is written in its place"}));
  const Json environment = recipe(import, "framework/x")["methods"]["hub"]["environment"];
  EXPECT_FALSE(environment.contains("API_TOKEN")) << environment;
}

TEST(ImportedSecrets, AreNotInErrors) {
  const Import import = import_files({{"a.Dockerfile", "FROM debian:12\nRUN x\n"},
                                      {"b.Dockerfile", "FROM debian:12\nENV API_TOKEN=hunter2 '\n"}});
  EXPECT_EQ(all_of(import).find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace kiln::testing
