#include "factory/recipe/schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/base/reading.h"
#include "factory/recipe/parameters.h"
#include "factory/recipe/recipe.h"
#include "factory/site/site.h"

namespace kiln {
namespace {

Json schema(const std::string& name) { return Json::parse(schema_text(name)); }

std::set<std::string> words(const Json& list) { return list.get<std::set<std::string>>(); }
std::set<std::string> words(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

// Of what other programs write and read: no reader of kiln_plan knows their keys. Real documents are held to
// them in tests/index/schema_test.cc, tests/bench/run_test.cc, tests/night/night_test.cc and
// tests/cli/plan_test.sh.
const std::set<std::string> kExchanged = {"plan", "host", "dsl", "mappings", "night", "runs"};

// Every object of the schemas that lists its keys, named as in key_table: "recipe", "recipe/version", …
std::map<std::string, Json> objects(bool exchanged = false) {
  std::map<std::string, Json> found;
  for (const std::string& name : schema_names()) {
    if (kExchanged.contains(name) != exchanged) continue;
    const Json root = schema(name);
    found[name] = root;
    if (!root.contains("$defs")) continue;
    for (const auto& [definition, body] : root["$defs"].items())
      if (body.contains("properties")) found[name + "/" + definition] = body;
  }
  return found;
}

TEST(Schema, IsDraft202012) {
  for (const std::string& name : schema_names())
    EXPECT_EQ(schema(name).at("$schema"), "https://json-schema.org/draft/2020-12/schema") << name;
}

TEST(Schema, PassesTheStrictReader) {
  for (const std::string& name : schema_names())
    EXPECT_NO_THROW(JsonDocument::parse(schema_text(name), name));
}

TEST(Schema, RefusesAnUnknownName) {
  try {
    schema_text("recipes");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.format(), "error: there is no schema 'recipes'; did you mean 'recipe'?");
  }
  EXPECT_THROW(schema_text(""), Error);
}

TEST(Schema, HasTheKeysThatTheReadersAccept) {
  const std::map<std::string, Json> found = objects();
  for (const auto& [name, body] : found) {
    ASSERT_TRUE(key_table().contains(name)) << name << " is in the schema only";
    std::set<std::string> keys;
    for (const auto& [key, value] : body["properties"].items())
      if (key != "$schema") keys.insert(key);
    EXPECT_EQ(keys, words(keys_of(name))) << name;
    EXPECT_EQ(body.value("additionalProperties", true), false) << name << " must refuse other keys";
  }
  for (const auto& [name, keys] : key_table())
    EXPECT_TRUE(found.contains(name)) << name << " is in the readers only";
}

TEST(Schema, DescribesEveryKey) {
  std::map<std::string, Json> all = objects();
  all.merge(objects(true));
  for (const auto& [name, body] : all) {
    if (!body.contains("properties")) continue;  // mappings: one, or an array
    EXPECT_TRUE(body.contains("description")) << name;
    const Json definitions = schema(name.substr(0, name.find('/'))).value("$defs", Json::object());
    for (const auto& [key, value] : body["properties"].items()) {
      const std::string reference = value.value("$ref", "#/$defs/");
      const Json target = definitions.value(reference.substr(8), Json::object());
      EXPECT_TRUE(value.contains("description") || target.contains("description")) << name << "/" << key;
    }
  }
}

TEST(Schema, RefersOnlyToWhatItDefines) {
  for (const std::string& name : schema_names()) {
    const Json root = schema(name);
    const Json leaves = root.flatten();
    for (const auto& [pointer, value] : leaves.items()) {
      if (!pointer.ends_with("/$ref")) continue;
      EXPECT_TRUE(root.contains(Json::json_pointer(value.get<std::string>().substr(1)))) << name << pointer;
    }
  }
}

TEST(Schema, KnowsTheSameWordsAsTheReaders) {
  const Json recipe = schema("recipe");
  EXPECT_EQ(words(recipe["properties"]["methods"]["propertyNames"]["enum"]), words(method_names()));
  EXPECT_EQ(words(recipe["$defs"]["need"]["properties"]["kind"]["enum"]), words(kind_names()));
  EXPECT_EQ(words(recipe["$defs"]["parameters"]["items"]["anyOf"][0]["enum"]), words(known_parameters()));
  EXPECT_EQ(words(schema("matrix")["$defs"]["method"]["enum"]), words(method_names()));
  EXPECT_EQ(words(schema("site")["properties"]["engine"]["enum"]), words(engine_names()));
}

TEST(Schema, HasTheAxesInItsConditions) {
  const Json patterns = schema("matrix")["$defs"]["condition"]["patternProperties"];
  EXPECT_TRUE(patterns.contains(fmt::format("^({})$", fmt::join(keys_of("matrix/axes"), "|"))));
  std::vector<std::string> kinds = kind_names();
  EXPECT_TRUE(patterns.contains(fmt::format("^({})\\.[a-z_][a-z0-9_]*$", fmt::join(kinds, "|"))));
}

}  // namespace
}  // namespace kiln
