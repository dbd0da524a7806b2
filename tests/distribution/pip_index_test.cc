#include "factory/distribution/pip_index.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

using Environment = std::map<std::string, std::string>;

FakeFileSystem machine(const std::string& configuration) {
  FakeFileSystem files;
  files.files["/etc/pip.conf"] = configuration;
  return files;
}

TEST(PipIndex, WithoutAWordThereIsNone) {
  EXPECT_EQ(pip_index(FakeFileSystem(), {{"HOME", "/home/a"}})->url, "") << "pip's own default";
  EXPECT_EQ(pip_index(machine("[global]\ntimeout = 5\n[list]\nindex-url = https://x\n"), {})->url, "");
}

TEST(PipIndex, LaterFilesCountMoreAndTheEnvironmentMost) {
  FakeFileSystem files = machine("# a comment\n[global]\nindex-url = https://machine.example/simple/\n");
  auto from = [&](const Environment& environment, const std::string& file = "") {
    auto index = pip_index(files, environment, file);
    return !index ? "none" : index->url.empty() ? "default" : index->url + " " + index->from;
  };
  Environment ours = {{"HOME", "/home/a"}};
  EXPECT_EQ(from(ours), "https://machine.example/simple /etc/pip.conf");
  files.files["/home/a/.pip/pip.conf"] = "[global]\nINDEX_URL: https://old.example/simple\n";
  EXPECT_EQ(from(ours), "https://old.example/simple /home/a/.pip/pip.conf");
  files.files["/home/a/.config/pip/pip.conf"] =
      "[install]\nindex-url=https://own.example\n[global]\nindex-url=https://x\n";
  EXPECT_EQ(from(ours), "https://own.example /home/a/.config/pip/pip.conf") << "[install] before [global]";
  files.files["/venv/pip.conf"] = "[global]\nindex-url=https://venv.example\n";
  ours["VIRTUAL_ENV"] = "/venv";
  EXPECT_EQ(from(ours), "https://venv.example /venv/pip.conf");
  files.files["/named.conf"] = "[global]\nindex-url=https://named.example\n";
  ours["PIP_CONFIG_FILE"] = "/named.conf";
  EXPECT_EQ(from(ours), "https://named.example /named.conf");
  files.files["/site.conf"] = "[global]\nindex-url=https://site.example\n";
  EXPECT_EQ(from(ours, "/site.conf"), "https://site.example /site.conf") << "what the site file names, alone";
  ours["PIP_INDEX_URL"] = "https://variable.example/simple";
  EXPECT_EQ(from(ours, "/site.conf"), "https://variable.example/simple PIP_INDEX_URL");
  ours["PIP_NO_INDEX"] = "1";
  EXPECT_EQ(from(ours), "none");
  EXPECT_EQ(from({{"PIP_CONFIG_FILE", "/dev/null"}}), "default") << "pip's way to read no file";
}

TEST(PipIndex, NameAndPasswordAreNoPartOfTheUrl) {
  const auto index =
      pip_index(FakeFileSystem(), {{"PIP_INDEX_URL", "https://us%40er:p%2Fw@host.example:8443/a/simple/"}});
  ASSERT_TRUE(index);
  EXPECT_EQ(index->url, "https://host.example:8443/a/simple");
  EXPECT_EQ(index->credentials, "us@er:p/w");
}

TEST(PipIndex, CertificatesAreTheOnesOfPip) {
  FakeFileSystem files = machine("[global]\nindex-url = https://x\ncert = /etc/site.pem\n");
  EXPECT_EQ(pip_index(files, {})->certificates, "/etc/site.pem");
  EXPECT_EQ(pip_index(files, {{"PIP_CERT", "/own.pem"}})->certificates, "/own.pem");
}

TEST(PipIndex, WhatIsNoUrlIsRefusedWithoutItsPassword) {
  for (const char* bad :
       {"file:///srv/simple", "simple", "https://u:secret@h/ x", "https://u:secret@h/\r\nX: y"}) {
    try {
      pip_index(FakeFileSystem(), {{"PIP_INDEX_URL", bad}});
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.format(), "error: PIP_INDEX_URL names a package index that is no http(s) URL");
    }
  }
}

TEST(PipIndex, TheDefaultIsWhatPipSays) {
  const std::string help =
      "  -i, --index-url <url>       Base URL of the Python Package Index (default "
      "https://index.example/simple). "
      "This should\n  --extra-index-url <url>     (default https://x)\n";
  EXPECT_EQ(default_index_in(help), "https://index.example/simple");
  EXPECT_EQ(default_index_in("--index-url <url> Base URL\n(default https://x)"), "");
  EXPECT_EQ(default_index_in("--index-url <url> (default https://x y"), "");
  EXPECT_EQ(default_index_in("--index-url <url> (default"), "");
  EXPECT_EQ(default_index_in(""), "");
}

// Whatever a file holds, it is read to its end.
TEST(PipIndex, AFileOfNonsenseNamesNone) {
  for (const std::string& bytes :
       {std::string("\0\xff[global]\n=\n:\n", 14), std::string("[global"), std::string("[global]\nindex-url"),
        std::string("[global]\nindex-url =\n"), std::string(1 << 19, '[')})
    EXPECT_EQ(pip_index(machine(bytes), {})->url, "");
}

}  // namespace
}  // namespace kiln::testing
