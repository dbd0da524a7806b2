#include "factory/distribution/package_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/base/json.h"

namespace kiln::testing {
namespace {

using Releases = std::vector<PackageRelease>;
const char* const kJson = "application/vnd.pypi.simple.v1+json";

Json file(const std::string& name, const Json& more = Json::object()) {
  Json json = {{"filename", name}, {"url", "../x"}, {"hashes", Json::object()}};
  json.update(more);
  return json;
}

PackageReleases in(const std::vector<Json>& files, const std::string& package = "scikit-learn") {
  const Json page = {{"meta", {{"api-version", "1.1"}}}, {"name", package}, {"files", files}};
  return releases_in(page.dump(), kJson, package);
}

std::string refusal(const std::string& body, const std::string& type = kJson) {
  try {
    releases_in(body, type, "torch");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::network);
    return error.message();
  }
  return "";
}

TEST(PackageIndex, ReadsVersionsOutOfFileNames) {
  const PackageReleases found =
      in({file("scikit_learn-1.5.2-cp312-cp312-manylinux_2_17_x86_64.whl"),
          file("scikit_learn-1.5.2-1-cp312-cp312-win_amd64.whl"), file("scikit-learn-1.10.0.tar.gz"),
          file("Scikit.Learn-1.4.0.zip"), file("scikit_learn-1.6.0rc1.tar.gz"), file("scikit-learn-0.9.egg"),
          file("scikit_learn-1.6.0+cpu-cp312-cp312-linux_x86_64.whl")});
  EXPECT_EQ(found.releases,
            (Releases{{"1.4.0", ""}, {"1.5.2", ""}, {"1.6.0rc1", ""}, {"1.6.0", ""}, {"1.10.0", ""}}));
  EXPECT_EQ(found.odd, 0u);
}

TEST(PackageIndex, WhatWasWithdrawnIsNone) {
  const PackageReleases found =
      in({file("scikit_learn-1.1.tar.gz", {{"yanked", true}}),
          file("scikit_learn-1.2.tar.gz", {{"yanked", "broken on musl"}}),
          file("scikit_learn-1.3.tar.gz", {{"yanked", ""}}),
          file("scikit_learn-1.4.tar.gz", {{"yanked", false}}),
          file("scikit_learn-1.5-py3-none-any.whl", {{"yanked", true}}), file("scikit_learn-1.5.tar.gz")});
  EXPECT_EQ(found.releases, (Releases{{"1.4", ""}, {"1.5", ""}})) << "a release goes with its last file";
}

TEST(PackageIndex, TheDateIsThatOfTheFirstFile) {
  const PackageReleases found =
      in({file("scikit_learn-1.1.tar.gz", {{"upload-time", "2026-03-02T10:00:00.123456Z"}}),
          file("scikit_learn-1.1-py3-none-any.whl", {{"upload-time", "2026-03-01T23:59:59Z"}}),
          file("scikit_learn-1.2.tar.gz", {{"upload-time", "yesterday"}}),
          file("scikit_learn-1.3.tar.gz", {{"upload-time", "2026-02-31T00:00:00Z"}}),
          file("scikit_learn-1.4.tar.gz", {{"upload-time", 7}})});
  EXPECT_EQ(found.releases,
            (Releases{{"1.1", "2026-03-01T23:59:59Z"}, {"1.2", ""}, {"1.3", ""}, {"1.4", ""}}));
}

TEST(PackageIndex, ReadsThePageForBrowsers) {
  const PackageReleases found = releases_in(
      "<!DOCTYPE html><html><body><h1>Links for torch</h1>\n"
      "<a href=\"x#sha256=1\" "
      "data-requires-python=\"&gt;=3.9\">torch-2.6.0-cp312-cp312-linux_x86_64.whl</a><br/>\n"
      "<A HREF='y'\n>torch-2.7.0.tar.gz</A><abbr>torch-9.0.tar.gz</abbr>"
      "<a href=z data-yanked=\"\">torch-2.8.0.tar.gz</a><a>",
      "text/html; charset=UTF-8", "torch");
  EXPECT_EQ(found.releases, (Releases{{"2.6.0", ""}, {"2.7.0", ""}}));
}

TEST(PackageIndex, NamesThatAreNoVersionsAreCounted) {
  const PackageReleases found =
      in({file("scikit_learn-1!99999999999.0.tar.gz"), file("scikit-learn-../../etc/passwd.tar.gz"),
          file("scikit-learn-$(reboot).tar.gz"), file(std::string("scikit-learn-1\n2.tar.gz")),
          file("numpy-1.0.tar.gz"), file("scikit-learn-" + std::string(200, '9') + ".tar.gz"), file("-.whl"),
          file(""), file("scikit-learn-.tar.gz"), file("scikit-learn-99999999999999999999999.0.tar.gz")});
  EXPECT_EQ(found.releases, (Releases{{"99999999999999999999999.0", ""}}))
      << "absurd, and a version: a person looks";
  EXPECT_EQ(found.odd, 9u);
}

TEST(PackageIndex, HostileAnswersAreRefused) {
  EXPECT_EQ(refusal("{}"), "the page of torch lists no files");
  EXPECT_EQ(refusal(R"({"files": {}})"), "the page of torch lists no files");
  EXPECT_EQ(refusal(R"({"files": [{"filename": 7}]})"), "the page of torch lists files without names");
  EXPECT_EQ(refusal(R"({"files": [[]]})"), "the page of torch lists files without names");
  EXPECT_EQ(refusal("a", "application/octet-stream"), "the page of torch is no list of files");
  EXPECT_EQ(refusal("a", ""), "the page of torch is no list of files");
  EXPECT_NE(refusal(std::string(100'000, '[')), "");
  EXPECT_NE(refusal("{\"files\": ["), "");
  EXPECT_NE(refusal("{\"\x1b[31m\": 1, }"), "");
  EXPECT_EQ(refusal("{\"\x1b[31m\": 1, }").find('\x1b'), std::string::npos);
  EXPECT_EQ(releases_in("<a <a <a", "text/html", "torch").releases, Releases());
}

TEST(PackageIndex, TenMegabytesAreReadInTime) {
  std::vector<Json> files;
  for (int i = 0; i < 60'000; ++i)
    files.push_back(file(fmt::format("scikit_learn-1.{}-cp312-cp312-manylinux_2_17_x86_64.whl", i % 300),
                         {{"upload-time", "2026-03-02T10:00:00.123456Z"}, {"requires-python", ">=3.9"}}));
  EXPECT_EQ(in(files).releases.size(), 300u);
}

class ScriptedHttp final : public Http {
 public:
  explicit ScriptedHttp(std::vector<std::function<HttpAnswer()>> answers) : answers_(std::move(answers)) {}
  HttpAnswer send(const HttpRequest& request) override {
    requests.push_back(request);
    return answers_.at(requests.size() - 1)();
  }
  std::vector<HttpRequest> requests;

 private:
  std::vector<std::function<HttpAnswer()>> answers_;
};

HttpAnswer page(int status, const std::string& body = "") {
  return {status, {{"content-type", kJson}}, body};
}

TEST(PackageIndex, IsAskedByTheNormalNameWithItsPassword) {
  ScriptedHttp http({[] { return page(200, R"({"files": [{"filename": "a_b_c-1.0.tar.gz"}]})"); }});
  const PackageReleases found = ask_releases({"https://h/simple", "u:p", "", "pip.conf"}, "A_b.-c", http);
  EXPECT_EQ(found.releases.size(), 1u);
  ASSERT_EQ(http.requests.size(), 1u);
  EXPECT_EQ(http.requests[0].url, "https://h/simple/a-b-c/");
  EXPECT_EQ(http.requests[0].headers.back(),
            (std::pair<std::string, std::string>{"Authorization", "Basic dTpw"}));
}

std::string failure(ScriptedHttp http, ExitCode code) {
  try {
    ask_releases({"https://h/simple", "u:secret", "", "/etc/pip.conf"}, "torch", http,
                 std::chrono::milliseconds(1));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.format().find("secret"), std::string::npos);
    return error.message();
  }
  return "";
}

TEST(PackageIndex, FilesHaveUrlsAndHashes) {
  const std::string hex(64, 'a');
  const std::string page = "https://index.example/simple/jax/";
  const Json body = {
      {"files",
       {file("jax-1-py3-none-any.whl", {{"hashes", {{"sha256", hex}}}, {"yanked", true}}),
        file("jax-1.tar.gz", {{"url", "https://files.example/jax-1.tar.gz"}}), file("jax-1.exe")}}};
  const auto files = files_in(body.dump(), kJson, "jax", page);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].url, "https://index.example/simple/x");
  EXPECT_EQ(files[0].sha256, hex);
  EXPECT_EQ(files[1].url, "https://files.example/jax-1.tar.gz");
  EXPECT_EQ(files[1].sha256, "");
}

TEST(PackageIndex, FilesOfPagesInHtml) {
  const std::string hex(64, 'b');
  const auto files = files_in("<html><a data-x='1' href=\"../../f/jax-1.whl?a=1&amp;b=2#sha256=" + hex +
                                  "\">jax-1-py3-none-any.whl</a><a href=/g/jax>jax-2.tar.gz</a>"
                                  "<A HREF='jax-3.tar.gz#md5=00'>jax-3.tar.gz</A><a href=\"unclosed",
                              "text/html; charset=utf-8", "jax", "https://index.example/simple/jax/");
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].url, "https://index.example/f/jax-1.whl?a=1&b=2");
  EXPECT_EQ(files[0].sha256, hex);
  EXPECT_EQ(files[1].url, "");  // not quoted: not read
  EXPECT_EQ(files[2].url, "https://index.example/simple/jax/jax-3.tar.gz");
  EXPECT_EQ(files[2].sha256, "");
}

TEST(PackageIndex, LinksAreAbsolute) {
  const std::string page = "https://e.org/simple/a/";
  EXPECT_EQ(absolute_url(page, "/x"), "https://e.org/x");
  EXPECT_EQ(absolute_url(page, "//f.org/x"), "https://f.org/x");
  EXPECT_EQ(absolute_url(page, "./x"), "https://e.org/simple/a/x");
  EXPECT_EQ(absolute_url(page, "../../../../../x"), "https://e.org/x");
  EXPECT_EQ(absolute_url(page, ""), "");
}

TEST(PackageIndex, FailuresSayWhoDidNotAnswer) {
  EXPECT_EQ(failure(ScriptedHttp({[] { return page(404); }}), ExitCode::no_match),
            "https://h/simple has no package torch");
  EXPECT_EQ(failure(ScriptedHttp({[] { return page(403); }}), ExitCode::network),
            "cannot ask https://h/simple for torch: status 403");
  EXPECT_EQ(failure(ScriptedHttp({[] { return page(503); },
                                  []() -> HttpAnswer {
                                    throw HttpFailure{"reset", true};
                                  }}),
                    ExitCode::network),
            "cannot ask https://h/simple for torch: reset");
}

TEST(PackageIndex, WhatDoesNotPassIsAskedOnce) {
  EXPECT_EQ(failure(ScriptedHttp({[]() -> HttpAnswer {
                      throw HttpFailure{"no such host", false};
                    }}),
                    ExitCode::network),
            "cannot ask https://h/simple for torch: no such host");
}

TEST(PackageIndex, WhatPassesIsAskedOnceMore) {
  ScriptedHttp http({[] { return page(503); }, [] { return page(200, R"({"files": []})"); }});
  EXPECT_EQ(
      ask_releases({"https://h/simple", "", "", ""}, "torch", http, std::chrono::milliseconds(1)).releases,
      Releases());
}

}  // namespace
}  // namespace kiln::testing
