#include "factory/base/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/json.h"

namespace kiln {
namespace {

std::string written(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

TEST(JsonText, EveryCharacterIsWrittenAsDumpWritesIt) {
  for (int code = 0; code < 128; ++code) {
    std::string text = {'a', static_cast<char>(code), 'b'};
    EXPECT_EQ(written(text), Json(text).dump()) << code;
  }
  for (std::size_t length = 0; length < 20; ++length) {
    std::string text(length, '\x7f');
    EXPECT_EQ(written(text), Json(text).dump());
    for (std::size_t at = 0; at < length; ++at) {
      for (char c : {'"', '\\', '\x1f', '\0'}) {
        std::string with = text;
        with[at] = c;
        EXPECT_EQ(written(with), Json(with).dump()) << length << " " << at;
      }
    }
  }
  for (const char* text : {"", "é ü 漢字 🙂", "\"\\\"", "C:\\x\n\ty"})
    EXPECT_EQ(written(text), Json(text).dump());
}

TEST(JsonText, ObjectsAndArraysAreWrittenAsDumpWritesThem) {
  std::map<std::string, std::string> members = {{"b", "2"}, {"a\n", "\"1\""}};
  std::vector<std::string> items = {"x", "", "y\\"};
  std::string out;
  append_json(out, members);
  append_json(out, items);
  append_json(out, std::vector<std::string>{});
  EXPECT_EQ(out, Json(members).dump() + Json(items).dump() + "[]");
}

TEST(JsonText, TheUpperOneOfTwoObjectsWins) {
  std::map<std::string, std::string> lower = {{"a", "low"}, {"c", "low"}, {"e", "low"}};
  std::map<std::string, std::string> upper = {{"b", "up"}, {"c", "up"}};
  std::string out;
  append_merged_json(out, lower, upper);
  EXPECT_EQ(out, R"({"a":"low","b":"up","c":"up","e":"low"})");
  out.clear();
  append_merged_json(out, {}, {});
  EXPECT_EQ(out, "{}");
}

TEST(JsonText, MembersAreSeparated) {
  std::string out;
  JsonObjectText object(out);
  object.member("name", std::string("x"));
  object.key("schema") += '1';
  object.end();
  EXPECT_EQ(out, R"({"name":"x","schema":1})");
}

TEST(JsonText, PrintableIsTheSameValueAndNothingThatATerminalObeys) {
  const Json value = {{"a\033[2J", "\x7f \u009b \u00a0 é 日"}, {"b", Json::array({1, "\t"})}};
  const std::string text = printable_json(value);
  EXPECT_EQ(Json::parse(text), value);
  for (const char* raw : {"\033", "\x7f", "\u009b"}) EXPECT_EQ(text.find(raw), std::string::npos);
  EXPECT_NE(text.find("\\u007f \\u009b \u00a0 é 日"), std::string::npos) << text;
  EXPECT_EQ(printable_json(Json{{"a", 1}}, -1), R"({"a":1})");
  EXPECT_EQ(printable_json(Json("a\xff")), "\"a\uFFFD\"");
  EXPECT_EQ(printable_json(Json("\u00AD\u202Egnp\U000E0041é日🔥")), R"("\u00ad\u202egnp\udb40\udc41é日🔥")");
}

}  // namespace
}  // namespace kiln
