#include "factory/report/junit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

JunitCase junit_case(std::string name, JunitOutcome outcome, std::string message = {},
                     std::string text = {}) {
  return {"hello 2.1", std::move(name), outcome, "build", std::move(message), std::move(text), 1.5};
}

// What a reader with its rules sees (junit_rules.py): the broken ones, the title, a line a case.
std::vector<std::string> junit_as_read(const std::string& xml) {
  testing::TemporaryFolder folder;
  std::ofstream(folder / "x.xml", std::ios::binary) << xml;
  std::string command = fmt::format("'{}' '{}/tests/report/junit_rules.py' '{}'", KILN_ARCHSPEC_PYTHON,
                                    KILN_SOURCE_DIR, (folder / "x.xml").string());
  std::FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::vector<std::string> lines;
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    lines.push_back(line);
    line.clear();
  }
  EXPECT_EQ(pclose(pipe), 0) << xml.substr(0, 2000);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Junit, EveryOutcomeAsItIsWritten) {
  std::vector<JunitCase> cases = {
      junit_case("a", JunitOutcome::passed),
      junit_case("b", JunitOutcome::failed, "its test fails: the recipe's owner must act", "no \"x\" <y>\n&"),
      junit_case("c", JunitOutcome::error, "nothing was left of the disk"),
      {"other", "d", JunitOutcome::skipped, "", "no time was left", "", std::nullopt}};
  EXPECT_EQ(junit_xml("night", "2026-11-23T02:00:00", cases),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="night" tests="4" failures="1" errors="1" skipped="1" time="4.500">
  <testsuite name="hello 2.1" tests="3" failures="1" errors="1" skipped="0" time="4.500" timestamp="2026-11-23T02:00:00">
    <testcase classname="hello 2_1" name="a" time="1.500"/>
    <testcase classname="hello 2_1" name="b" time="1.500"><failure message="its test fails: the recipe's owner must act" type="build">its test fails: the recipe's owner must act
no "x" &lt;y&gt;
&amp;</failure></testcase>
    <testcase classname="hello 2_1" name="c" time="1.500"><error message="nothing was left of the disk" type="build">nothing was left of the disk</error></testcase>
  </testsuite>
  <testsuite name="other" tests="1" failures="0" errors="0" skipped="1" time="0.000" timestamp="2026-11-23T02:00:00">
    <testcase classname="other" name="d"><skipped message="no time was left">no time was left</skipped></testcase>
  </testsuite>
</testsuites>
)");
  EXPECT_EQ(
      junit_as_read(junit_xml("night", "2026-11-23T02:00:00", cases)),
      (Lines{
          "night", "hello 2.1|a|passed|''|''|''",
          R"(hello 2.1|b|failure|'build'|"its test fails: the recipe's owner must act"|'its test fails: the recipe\'s owner must act\nno "x" <y>\n&')",
          "hello 2.1|c|error|'build'|'nothing was left of the disk'|'nothing was left of the disk'",
          "other|d|skipped|''|'no time was left'|'no time was left'"}));
}

TEST(Junit, WhateverBytesALogHasItIsXml) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  for (std::string part : {"\xef\xbf\xbe", "\xef\xbf\xbf", "\xed\xa0\x80", "]]>", "\x1b[31mred\x1b[0m", "é"})
    bytes += part;
  JunitCase one = junit_case(bytes, JunitOutcome::failed, bytes, bytes);
  one.suite = one.kind = bytes;
  Lines read = junit_as_read(junit_xml(bytes, bytes, {one}));
  ASSERT_EQ(read.size(), 2U + 3U) << "newlines of the title, the suite and the name";
  for (const std::string& line : read) EXPECT_FALSE(line.starts_with("BROKEN")) << line;
  one = junit_case("a", JunitOutcome::failed, "two\nlines\tand \"a tab\"",
                   "\x1b[31mred\x1b[0m\xef\xbf\xbf é\r");
  EXPECT_EQ(junit_as_read(junit_xml("x", "", {one}))[1],
            R"(hello 2.1|a|failure|'build'|'two\nlines\tand "a tab"'|'two\nlines\tand "a tab"\nred \xe9')");
}

TEST(Junit, NoCaseIsLostToItsName) {
  std::vector<JunitCase> cases;
  for (const char* name : {"a", "a", "a (2)", "a"}) cases.push_back(junit_case(name, JunitOutcome::passed));
  EXPECT_EQ(junit_as_read(junit_xml("x", "", cases)),
            (Lines{"x", "hello 2.1|a|passed|''|''|''", "hello 2.1|a (2)|passed|''|''|''",
                   "hello 2.1|a (2) (2)|passed|''|''|''", "hello 2.1|a (3)|passed|''|''|''"}));
  // Two suites and two names that are one as they are written.
  cases = {junit_case("a", JunitOutcome::passed), junit_case("a\x01", JunitOutcome::passed)};
  cases[1].suite = "hello 2_1";
  EXPECT_EQ(junit_as_read(junit_xml("x", "", cases)),
            (Lines{"x", "hello 2.1|a|passed|''|''|''", "hello 2_1|a (2)|passed|''|''|''"}));
}

TEST(Junit, OfALongTextTheEndIsKept) {
  JunitCase one = junit_case("a", JunitOutcome::failed, "m", "first\nsecond &&\nthird é");
  auto text = [&](std::size_t bytes) {
    std::string line = junit_as_read(junit_xml("x", "", {one}, {.text_bytes = bytes}))[1];
    return line.substr(line.find("'m'|") + 4);
  };
  EXPECT_EQ(text(100), R"('m\nfirst\nsecond &&\nthird \xe9')");
  EXPECT_EQ(text(32), R"('m\nfirst\nsecond &&\nthird \xe9')");
  EXPECT_EQ(text(31), R"('m\n\u2026\nsecond &&\nthird \xe9')");
  EXPECT_EQ(text(17), R"('m\n\u2026\nthird \xe9')");
  EXPECT_EQ(text(2), R"('m\n\u2026\n\xe9')");
  EXPECT_EQ(text(1), "'m'");
}

TEST(Junit, ALargeNightStaysWithinTheLimits) {
  std::vector<JunitCase> cases;
  for (int number = 0; number < 3'000; ++number)
    cases.push_back(junit_case(fmt::format("image-{}", number),
                               number % 3 == 0 ? JunitOutcome::failed : JunitOutcome::passed, "failed",
                               std::string(5'000, '&') + "\nend"));
  std::string xml = junit_xml("night", "2026-11-23T02:00:00", cases, {.cases = 2'000, .bytes = 2'000'000});
  EXPECT_LT(xml.size(), 2'000'000U);
  EXPECT_GT(xml.size(), 1'000'000U);
  Lines read = junit_as_read(xml);
  ASSERT_EQ(read.size(), 2'001U);
  EXPECT_EQ(read[0], "night (1000 of 3000 left out)");
  EXPECT_TRUE(read[1].starts_with(R"(hello 2.1|image-0|failure|'build'|'failed'|'failed\n\u2026\n&&&&)"))
      << read[1];
  EXPECT_TRUE(read[1].ends_with(R"(&&&&\nend')")) << read[1];
  EXPECT_EQ(std::count_if(read.begin(), read.end(),
                          [](const std::string& line) { return line.find("|failure|") != line.npos; }),
            1'000);
  // More failures than cases: the first of them.
  read = junit_as_read(junit_xml("night", "", cases, {.cases = 2}));
  ASSERT_EQ(read.size(), 3U);
  EXPECT_TRUE(read[2].starts_with("hello 2.1|image-3|failure|")) << read[2];
}

TEST(Junit, OfNothingAndOfTimesThatAreNone) {
  EXPECT_EQ(junit_as_read(junit_xml("x", "", {})), Lines{"x"});
  JunitCase one = junit_case("a", JunitOutcome::passed);
  for (double seconds : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e9}) {
    one.seconds = seconds;
    EXPECT_EQ(junit_as_read(junit_xml("x", "", {one})).size(), 2U) << seconds;
  }
}

}  // namespace
}  // namespace kiln
