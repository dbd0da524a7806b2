#include "factory/base/json_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

using Strings = std::vector<std::string>;

// The rows of a text that comes in pieces of this size.
Strings rows_of(const std::string& text, std::size_t piece, const JsonRowLimits& limits = {}) {
  Strings rows;
  JsonRows reader("f.json", limits,
                  [&](const JsonNode& row, std::string_view) { rows.push_back(row.value().dump()); });
  for (std::size_t at = 0; at < text.size(); at += piece)
    reader.feed(std::string_view(text).substr(at, piece));
  reader.finish();
  return rows;
}

std::string refused(const std::string& text, const JsonRowLimits& limits = {}) {
  std::string first;
  for (std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size() + 1}) {
    std::string said = "nothing was thrown";
    try {
      rows_of(text, piece, limits);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      said = error.format();
    }
    if (first.empty()) first = said;
    EXPECT_EQ(said, first) << "in pieces of " << piece;
  }
  return first;
}

TEST(JsonRows, AreTheItemsOfAnArray) {
  const std::pair<const char*, Strings> kTexts[] = {
      {"[]", {}},
      {" [ ] \n", {}},
      {R"([{"a": [1, {"b": "]}"}]}, [2, [3]], "x\"y]", 12, true, null, -1.5e3])",
       {R"({"a":[1,{"b":"]}"}]})", "[2,[3]]", R"("x\"y]")", "12", "true", "null", "-1500.0"}},
      {"// head, [1]\n[1, /* 2, ] */ 3 // 4 ]\n, {\"a\": /* } */ 5} /**/ ] // tail\n/* ] */",
       {"1", "3", R"({"a":5})"}},
      {R"({"one": "object"})", {R"({"one":"object"})"}},
      {R"("a word")", {R"("a word")"}},
      {"17", {"17"}},
      {"[17]", {"17"}},
      {"[\"\\\\\", \"\\\"\"]", {R"("\\")", R"("\"")"}},
  };
  for (const auto& [text, rows] : kTexts)
    for (std::size_t piece : {1, 2, 3, 1000}) EXPECT_EQ(rows_of(text, piece), rows) << text << piece;
}

TEST(JsonRows, MistakesHaveTheirPlaceInTheWhole) {
  EXPECT_EQ(refused("[{\"a\": 1},\n  {\"b\": 1, \"b\": 2}]"),
            "f.json:2:12: error: the key 'b' stands here a second time (at /1); equal keys would silently "
            "overwrite each other: keep one");
  EXPECT_EQ(refused("[1,\n {\"a\":\n   [1, tru]}]"),
            "f.json:3:8: error: not valid JSON: invalid literal; last read: '1, tru]' (at /1/a)");
  EXPECT_EQ(refused("[1, 2,]"),
            "f.json:1:7: error: not valid JSON: a comma before ']'; leave it out after the last value");
  EXPECT_EQ(refused("[1 2]"),
            "f.json:1:4: error: not valid JSON: expected ',' or ']' after this value; found '2'");
  EXPECT_EQ(refused("[,]"), "f.json:1:2: error: not valid JSON: unexpected ','");
  EXPECT_EQ(refused("[1] [2]"), "f.json:1:5: error: not valid JSON: unexpected '['; expected end of input");
  EXPECT_EQ(refused("[1, / 2]"), "f.json:1:6: error: not valid JSON: unexpected '/'");
  EXPECT_EQ(refused("[1}, 2]"),
            "f.json:1:3: error: not valid JSON: unexpected '}' (at /0); expected end of input");
}

TEST(JsonRows, WhatIsCutOffIsRefused) {
  const std::string whole = "[{\"a\": \"b\\\"c\"}, [1, 2], 33, \"d\" /* e */ ]";
  EXPECT_EQ(rows_of(whole, 1000).size(), 4u);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(refused(whole.substr(0, size)).starts_with("f.json:1:")) << whole.substr(0, size);
  EXPECT_EQ(refused("[1, 2"),
            "f.json:1:6: error: not valid JSON: unexpected end of input; expected ',' or ']'");
}

TEST(JsonRows, LimitsAreNamed) {
  JsonRowLimits limits;
  limits.rows = 2;
  limits.row.bytes = 20;
  EXPECT_EQ(rows_of("[1, 2]", 1, limits).size(), 2u);
  EXPECT_EQ(refused("[1, 2,\n 3]", limits), "f.json:2:2: error: more than 2 rows");
  EXPECT_EQ(rows_of("[\"" + std::string(18, 'x') + "\"]", 1, limits).size(), 1u);
  EXPECT_EQ(refused("[1,\n \"" + std::string(19, 'x') + "\"]", limits),
            "f.json:2:2: error: more than 20 bytes, the limit of a row (at /1)");
  EXPECT_EQ(refused("\"" + std::string(19, 'x') + "\"", limits),
            "f.json:1:1: error: more than 20 bytes, the limit of a document");
}

TEST(JsonRows, BombsAndNulsAreRefused) {
  EXPECT_EQ(
      refused("[1, " + std::string(100, '[') + std::string(100, ']') + "]"),
      "f.json:1:69: error: nested more than 64 levels deep (at /1" +
          [] {
            std::string zeros;
            for (int i = 0; i < 63; ++i) zeros += "/0";
            return zeros;
          }() +
          ")");
  // However deep, it is not kept beyond the limit of a row.
  EXPECT_EQ(refused("[" + std::string(5u << 20, '[')),
            "f.json:1:2: error: more than 4194304 bytes, the limit of a row (at /0)");
  const std::string nul(1, '\0');
  EXPECT_EQ(refused("[1, " + nul + "]"), "f.json:1:5: error: not valid JSON: a NUL byte (at /1)");
  EXPECT_EQ(refused("[1" + nul + ", 2]"), "f.json:1:3: error: not valid JSON: a NUL byte (at /0)");
  EXPECT_EQ(refused("[1 " + nul + ", 2]"),
            "f.json:1:4: error: not valid JSON: expected ',' or ']' after this value; found the byte 0x00");
  EXPECT_EQ(refused("[{\"a\":\n \"" + nul + "\"}]"), "f.json:2:3: error: not valid JSON: a NUL byte (at /0)");
}

TEST(JsonRows, ErrorsOfWhoeverTakesThemHaveTheirPlaceToo) {
  auto said = [](const JsonRows::Take& take) {
    JsonRows rows("f.json", {}, take);
    try {
      rows.feed("[{\"a\": 1},\n {\"a\":\n  2}]");
    } catch (const Error& error) {
      return error.format();
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(said([](const JsonNode& row, std::string_view) { row.at("a").integer(0, 1); }),
            "f.json:3:3: error: expected a whole number from 0 to 1, found 2 (at /1/a)");
  EXPECT_EQ(said([](const JsonNode&, std::string_view) { throw Error(ExitCode::store, "the disk is full"); }),
            "error: the disk is full");
}

TEST(JsonRows, ComeFromAFile) {
  testing::TemporaryFolder folder;
  std::size_t rows = 0;
  auto read = [&](const std::string& name, const JsonRowLimits& limits = {}) {
    try {
      rows = 0;
      read_json_rows(folder / name, limits, [&](const JsonNode&, std::string_view) { ++rows; });
    } catch (const Error& error) {
      return error.format().substr(error.format().find("error: "));
    }
    return std::string();
  };
  std::string long_text = "[0";
  for (int i = 1; i < 50'000; ++i) long_text += ",\n{\"i\": " + std::to_string(i) + "}";
  folder.write("long.json", long_text + "]");
  EXPECT_EQ(read("long.json"), "");
  EXPECT_EQ(rows, 50'000u);
  JsonRowLimits limits;
  limits.bytes = 1000;
  EXPECT_EQ(read("long.json", limits),
            fmt::format("error: {} bytes, the limit is 1000", long_text.size() + 1));
  EXPECT_EQ(rows, 0u);
  folder.write("short.json", "17");
  EXPECT_EQ(read("short.json"), "");
  EXPECT_EQ(rows, 1u);
  folder.write("marked.json", "\xef\xbb\xbf[1]");
  EXPECT_EQ(read("marked.json"), "error: the file starts with a byte order mark; save it as plain UTF-8");
  folder.write("empty.json", "");
  EXPECT_NE(read("empty.json").find("not valid JSON"), std::string::npos);
  EXPECT_NE(read("none.json").find("there is no file"), std::string::npos);
}

}  // namespace
}  // namespace kiln
