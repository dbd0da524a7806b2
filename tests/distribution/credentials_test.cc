#include "factory/distribution/credentials.h"

#include <gtest/gtest.h>

#include "factory/base/digest.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::TemporaryFolder;

class CredentialsTest : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) { files.write(folder.path() / file, text); }
  static std::string entry(const std::string& host, const std::string& pair) {
    return "\"" + host + "\":{\"auth\":\"" + base64_of(pair) + "\"}";
  }
  std::optional<Credentials> find(const std::string& host, const std::string& repository) {
    return find_credentials(host, repository, environment, files, runner);
  }
  std::string user(const std::string& host, const std::string& repository) {
    const auto found = find(host, repository);
    return found ? found->user : "nobody";
  }

  TemporaryFolder folder;
  RealFileSystem files;
  RealCommandRunner runner;
  std::map<std::string, std::string> environment = {
      {"HOME", folder.path().string()},
      {"XDG_RUNTIME_DIR", (folder.path() / "run").string()},
      {"PATH", (folder.path() / "bin").string() + ":/usr/bin:/bin"},
  };
};

TEST_F(CredentialsTest, TheLongestNameOfAFileWins) {
  write("run/containers/auth.json", "{\"auths\":{" + entry("h", "host:1") + "," + entry("h/a", "a:1") + "," +
                                        entry("h/a/b", "b:1") + "}}");
  EXPECT_EQ(user("h", "a/b/c"), "b");
  EXPECT_EQ(user("h", "a/bc"), "a");  // whole components
  EXPECT_EQ(user("h", "z"), "host");
  EXPECT_EQ(user("other", "a"), "nobody");
}

TEST_F(CredentialsTest, TheFirstFileThatKnowsTheHostWins) {
  write("run/containers/auth.json", "{\"auths\":{" + entry("h", "first:1") + "}}");
  write(".config/containers/auth.json",
        "{\"auths\":{" + entry("h/a", "second:1") + "," + entry("g", "g:1") + "}}");
  write(".docker/config.json",
        "{\"auths\":{" + entry("g", "third:1") + "," + entry("f", "f:1") + "},\"credsStore\":\"x\"}");
  EXPECT_EQ(user("h", "a"), "first");
  EXPECT_EQ(user("g", "a"), "g");
  EXPECT_EQ(user("f", "a"), "f");
}

TEST_F(CredentialsTest, REGISTRY_AUTH_FILEIsInThePlaceOfTheFirst) {
  write("run/containers/auth.json", "{\"auths\":{" + entry("h", "run:1") + "}}");
  write("named.json", "{\"auths\":{" + entry("h", "named:pass:word") + "}}");
  environment["REGISTRY_AUTH_FILE"] = (folder.path() / "named.json").string();
  EXPECT_EQ(user("h", "a"), "named");
  EXPECT_EQ(find("h", "a")->password, "pass:word");
  EXPECT_EQ(find("h", "a")->from, (folder.path() / "named.json").string());
}

TEST_F(CredentialsTest, IdentityTokensAndEmptyEntries) {
  write("run/containers/auth.json", R"({"auths":{"h":{},"t":{"identitytoken":"secret"}}})");
  write(".docker/config.json", "{\"auths\":{" + entry("h", "docker:1") + "}}");
  EXPECT_EQ(user("h", "a"), "docker");  // an empty entry says nothing
  EXPECT_EQ(find("t", "a")->identity_token, "secret");
}

TEST_F(CredentialsTest, DockerNamesRegistriesByAddress) {
  for (const char* key : {"https://h:5000", "https://h:5000/", "https://h:5000/v1/", "http://h:5000/v2/",
                          "https://H:5000/v1/"}) {
    write(".docker/config.json", "{\"auths\":{" + entry(key, "me:1") + "}}");
    EXPECT_EQ(user("h:5000", "a/b"), "me") << key;
    EXPECT_EQ(user("h", "a"), "nobody") << key;
    EXPECT_EQ(user("h:5000.evil", "a"), "nobody") << key;
  }
  write(".docker/config.json",
        "{\"auths\":{" + entry("https://h/v1/", "old:1") + "," + entry("h", "plain:1") + "," +
            entry("https://index.docker.io/v1/", "hub:1") + "," + entry("g/a", "path:1") + "}}");
  EXPECT_EQ(user("h", "a"), "plain");
  EXPECT_EQ(user("docker.io", "a"), "hub");
  EXPECT_EQ(user("registry-1.docker.io", "a"), "hub");
  EXPECT_EQ(user("g", "b"), "nobody") << "a path is no address";
}

TEST_F(CredentialsTest, AHelperIsAsked) {
  write("bin/docker-credential-site",
        "#!/bin/sh\nread -r host || [ -n \"$host\" ]\n[ \"$1 $host\" = 'get h:5000' ] || "
        "{ echo 'credentials not found in native keychain'; exit 1; }\n"
        "printf '{\"ServerURL\":\"h\",\"Username\":\"helped\",\"Secret\":\"s\"}'\n");
  fs::permissions(folder.path() / "bin/docker-credential-site", fs::perms::owner_all);
  write("run/containers/auth.json", R"({"credHelpers":{"h:5000":"site","other":"site","gone":"missing"}})");
  EXPECT_EQ(user("h:5000", "a"), "helped");
  EXPECT_EQ(user("other", "a"), "nobody");
  EXPECT_THROW(find("gone", "a"), Error);
}

TEST_F(CredentialsTest, WhatIsWrongIsToldWithoutASecret) {
  for (const std::string& text :
       {std::string(R"({"auths":{"h":{"auth":"c2VjcmV0"}}})"), std::string("{\"auths\": secret}"),
        std::string(R"({"auths":{"h":{"auth":"!secret!"}}})"),
        std::string(R"({"auths":{"h":{"auth":"secret)")}) {
    write("run/containers/auth.json", text);
    try {
      find("h", "a");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_EQ(error.format().find("secret"), std::string::npos) << error.format();
      EXPECT_NE(error.format().find("auth.json:1:"), std::string::npos) << error.format();
    }
  }
}

}  // namespace
}  // namespace kiln
