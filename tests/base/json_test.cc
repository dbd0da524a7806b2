#include "factory/base/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

JsonDocument parse(const std::string& text, const JsonLimits& limits = {}) {
  return JsonDocument::parse(text, "a.json", limits);
}

std::string error_of(const std::string& text, const JsonLimits& limits = {}) {
  try {
    parse(text, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.format();
  }
  return "no error";
}

template <class Function>
std::string error_from(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.format();
  }
  return "no error";
}

TEST(Json, RemembersLinesAndColumns) {
  auto document = parse(
      "{\n  // comment, with \"quotes\": {\n  \"a\": [1, {\"b\": \"x\\\"y\"}],\n  /* two\n lines */ \"c\": "
      "true\n}");
  auto root = document.root();
  EXPECT_EQ(root.at("a").items()[1].at("b").where(), (SourceLocation{"a.json", 3, 18, "/a/1/b"}));
  EXPECT_EQ(root.at("a").items()[1].at("b").string(), "x\"y");
  EXPECT_EQ(root.at("c").where(), (SourceLocation{"a.json", 5, 16, "/c"}));
  EXPECT_EQ(root.where_key("c"), (SourceLocation{"a.json", 5, 11, "/c"}));
}

TEST(Json, KeepsTheOrderOfTheFile) {
  std::vector<std::string> keys;
  auto document = parse(R"({"z": 1, "a": {"y": 1}, "m": 3})");
  for (const auto& [key, node] : document.root().members()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"z", "a", "m"}));
}

TEST(Json, PointersAreEscaped) {
  auto document = parse(R"({"a/b": {"~": 1}})");
  EXPECT_EQ(document.root().at("a/b").at("~").pointer(), "/a~1b/~0");
  EXPECT_EQ(document.root().at("a/b").at("~").where().column, 15);
}

TEST(Json, SyntaxErrorsHavePlaces) {
  EXPECT_EQ(error_of("{\n  \"a\": 1,\n}"),
            "a.json:3:1: error: not valid JSON: a comma before '}'; leave it out after the last value");
  EXPECT_EQ(error_of("{\"a\" 1}").substr(0, 38), "a.json:1:6: error: not valid JSON: une");
  EXPECT_NE(error_of(""), "no error");
  EXPECT_NE(error_of("{} x"), "no error");
  EXPECT_NE(error_of("\"\xff\""), "no error") << "invalid UTF-8";
  EXPECT_NE(error_of("[1, 2"), "no error");
}

TEST(Json, NothingHidesBehindANul) {
  using namespace std::string_literals;
  EXPECT_EQ(error_of("{\"a\": 1}\0 and {more"s), "a.json:1:9: error: not valid JSON: a NUL byte");
  EXPECT_EQ(error_of("{\"a\":\n \"b\0c\"}"s), "a.json:2:4: error: not valid JSON: a NUL byte");
}

TEST(Json, AForgottenCommaIsNamedWhereItIsMissing) {
  EXPECT_EQ(error_of("{\n  \"a\": 1\n  \"b\": 2\n}"),
            "a.json:2:9: error: not valid JSON: expected ',' or '}' after this value; found a string literal "
            "at 3:3");
  EXPECT_EQ(error_of("{\"a\": [1 2]}"),
            "a.json:1:9: error: not valid JSON: expected ',' or ']' after this value (at /a); found a number "
            "literal at 1:10");
  EXPECT_EQ(error_of("{\"a\": {} // of a\n \"b\": 1}"),
            "a.json:1:9: error: not valid JSON: expected ',' or '}' after this value; found a string literal "
            "at 2:2");
  EXPECT_EQ(error_of("[1, 2"),
            "a.json:1:6: error: not valid JSON: unexpected end of input; expected ',' or ']'");
  EXPECT_EQ(error_of("[1,]"),
            "a.json:1:4: error: not valid JSON: a comma before ']'; leave it out after the last value");
  EXPECT_EQ(error_of("{]"), "a.json:1:2: error: not valid JSON: unexpected ']'; expected string literal");
}

TEST(Json, DuplicateKeysAreRefused) {
  EXPECT_EQ(error_of("{\"a\": 1,\n \"a\": 2}"),
            "a.json:2:2: error: the key 'a' stands here a second time; equal keys would silently overwrite "
            "each other: "
            "keep one");
}

TEST(Json, DepthIsLimited) {
  std::string deep(100'000, '[');
  EXPECT_EQ(error_of(deep).substr(0, 54), "a.json:1:65: error: nested more than 64 levels deep (a");
  EXPECT_EQ(error_of(std::string(64, '[') + std::string(64, ']')), "no error");
}

TEST(Json, NumbersMustBeExact) {
  EXPECT_EQ(error_of("[18446744073709551616]"),
            "a.json:1:2: error: the whole number 18446744073709551616 does not fit into 64 bits");
  EXPECT_EQ(parse("[18446744073709551615]").value()[0].get<std::uint64_t>(), UINT64_MAX);
  for (const char* number : {"1e999", "-1e999", "1.5e309"})
    EXPECT_EQ(
        error_of(fmt::format("[{}]", number)),
        fmt::format("a.json:1:2: error: the number {} is too large; the largest is about 1.8e308", number));
}

TEST(Json, SizesAreLimited) {
  EXPECT_EQ(error_of("[1,2,3,4]", {.members = 4}), "a.json:1:8: error: more than 4 values");
  EXPECT_EQ(error_of("[\"aaaaa\"]", {.string_bytes = 4}),
            "a.json:1:2: error: a string of 5 bytes, the limit is 4");
  EXPECT_EQ(error_of("[1, 2]", {.bytes = 3}), "a.json: error: 6 bytes of JSON, the limit is 3");
  EXPECT_EQ(error_of("\xef\xbb\xbf{}"),
            "a.json:1:1: error: the file starts with a byte order mark; save it as plain UTF-8");
}

TEST(JsonNode, TypeErrorsSayWhatWasExpectedAndFound) {
  auto document = parse("{\"version\": 3.10, \"list\": {}, \"text\": [1], \"flag\": \"yes\", \"n\": 7}");
  auto root = document.root();
  EXPECT_EQ(error_from([&] { root.at("version").string(); }),
            "a.json:1:13: error: expected a string, found a number (at /version); put it in quotes (a "
            "version such as "
            "3.10 would lose its zero)");
  EXPECT_EQ(error_from([&] { root.at("list").items(); }),
            "a.json:1:27: error: expected an array, found an object (at /list)");
  EXPECT_EQ(error_from([&] { root.at("text").strings(); }),
            "a.json:1:40: error: expected a string, found a number (at /text/0); put it in quotes (a version "
            "such as "
            "3.10 would lose its zero)");
  EXPECT_EQ(error_from([&] { root.at("flag").boolean(); }),
            "a.json:1:52: error: expected true or false, found a string (at /flag)");
  EXPECT_EQ(error_from([&] { root.at("n").integer(1, 5); }),
            "a.json:1:64: error: expected a whole number from 1 to 5, found 7 (at /n)");
  EXPECT_EQ(error_from([&] { root.at("absent"); }), "a.json:1:1: error: the key 'absent' is missing");
}

TEST(JsonNode, UnknownKeysGetTheNearestKnownOne) {
  auto document = parse("{\n  \"$schema\": \"x\",\n  \"exlude\": []\n}");
  EXPECT_EQ(error_from([&] {
              document.root().allow_only({"axes", "exclude", "include"});
            }),
            "a.json:3:3: error: unknown key 'exlude' (at /exlude); did you mean 'exclude'?");
  auto far = parse("{\"zzz\": 1}");
  EXPECT_EQ(error_from([&] {
              far.root().allow_only({"axes", "exclude"});
            }),
            "a.json:1:2: error: unknown key 'zzz' (at /zzz); known keys: axes, exclude");
}

TEST(JsonNode, NamesAreSafeInPaths) {
  for (const char* bad : {"", "..", "a/b", "-rf", "a b", "a\\u0000b", ".hidden", "a..b", "\\u00e9"}) {
    auto document = parse(std::string("[\"") + bad + "\"]");
    EXPECT_NE(error_from([&] { document.root().items()[0].name(); }), "no error") << bad;
  }
  EXPECT_EQ(parse(R"(["x86_64_v3"])").root().items()[0].name(), "x86_64_v3");
}

TEST(JsonNode, LinesOfTextHaveNoControlCharacters) {
  EXPECT_EQ(parse(R"(["a b"])").root().items()[0].line_of_text(), "a b");
  auto document = parse(R"(["a\nRUN evil"])");
  EXPECT_NE(error_from([&] { document.root().items()[0].line_of_text(); }), "no error");
}

}  // namespace
}  // namespace kiln
