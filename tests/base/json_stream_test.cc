#include "factory/base/json_stream.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/json_text.h"

namespace kiln {
namespace {

// Members that are arrays or objects are written item by item, all others at once.
std::string streamed(const Json& document) {
  std::string out;
  JsonStream stream([&](std::string_view text) { out += text; });
  for (const auto& [name, value] : document.items()) {
    if (value.is_array()) {
      stream.begin_array(name);
      for (const Json& item : value) stream.item(item);
      stream.end();
    } else if (value.is_object()) {
      stream.begin_object(name);
      for (const auto& [key, item] : value.items()) stream.item(key, item);
      stream.end();
    } else {
      stream.member(name, value);
    }
  }
  stream.finish();
  return out;
}

TEST(JsonStream, WritesWhatDumpWrites) {
  for (const char* text :
       {"{}", R"({"a": 1})", R"({"a": [], "b": {}, "c": null})", R"({"a": [[]], "b": {"x": {}}})",
        R"({"cells": [{"why": [], "axes": {"b": "1", "a": "2"}}, {"why": ["x", "y"]}, 7, "s"],
            "name": "demo", "steps": {"k1": {"from": ""}, "k2": [1, [2, {"deep": [3]}]]}, "z": 0.1})"}) {
    Json document = Json::parse(text);
    EXPECT_EQ(streamed(document), document.dump(2));
  }
}

TEST(JsonStream, TextsKeepTheirLineEnds) {
  Json document = {{"list", {"a\nb", "\n", "\r\n\t\"\\", "é\u2028"}}, {"text", "one\n  two"}};
  EXPECT_EQ(streamed(document), printable_json(document, 2));
}

TEST(JsonStream, WholeMembersAreIndented) {
  Json value = {{"x", {1, 2}}, {"y", {{"z", "\n"}}}};
  std::string out;
  JsonStream stream([&](std::string_view text) { out += text; });
  stream.member("one", value);
  stream.member("two", Json::array());
  stream.finish();
  EXPECT_EQ(out, (Json{{"one", value}, {"two", Json::array()}}.dump(2)));
}

TEST(JsonStream, NothingIsHeldBack) {
  std::size_t written = 0;
  JsonStream stream([&](std::string_view text) { written += text.size(); });
  stream.begin_array("cells");
  for (int i = 0; i < 100; ++i) {
    std::size_t before = written;
    stream.item(std::string(100, 'x'));
    EXPECT_GE(written - before, 100u);
  }
}

}  // namespace
}  // namespace kiln
