#include "factory/base/json_fields.h"

#include <gtest/gtest.h>

namespace kiln {

enum class LeafShade { red, blue };

struct Leaf {
  LeafShade shade = LeafShade::red;
  int size = 0;
};

struct Twig {
  std::string name;
  double length = 0;
  std::vector<Leaf> leaves;
  std::map<std::string, Leaf> named;
  Leaf last;
  std::int64_t cut = 0;
  ExitCode end = ExitCode::ok;
};

struct Bough {
  std::string name;
  std::optional<Leaf> leaf;
  fs::path place;
  int rings = 0;
};

static std::string_view name_of(LeafShade shade) { return shade == LeafShade::red ? "red" : "blue"; }
static bool read_name(std::string_view name, LeafShade& shade) {
  shade = name == "red" ? LeafShade::red : LeafShade::blue;
  return name == "red" || name == "blue";
}

template <typename Fields>
void describe(Fields& fields, Leaf& leaf) {
  fields.when(leaf.shade != LeafShade::red, "shade", leaf.shade);
  fields.may("size", leaf.size);
}

template <typename Fields>
void describe(Fields& fields, Twig& twig) {
  fields.must("name", twig.name);
  fields.may("length", twig.length);
  fields.may("leaves", twig.leaves);
  fields.may("named", twig.named);
  fields.may("last", twig.last);
  fields.date("cut", twig.cut);
  fields.must("end", twig.end);
}

template <typename Fields>
void describe(Fields& fields, Bough& bough) {
  fields.refuse_others(bough);
  fields.must("name", bough.name, &JsonNode::name);
  fields.may("leaf", bough.leaf);
  fields.may("place", bough.place);
  fields.when(bough.rings > 1, "rings", bough.rings,
              [](const JsonNode& node) { return static_cast<int>(node.integer(1, 9)); });
}

namespace {

Twig read(const std::string& text) {
  Twig twig;
  read_into(JsonDocument::parse(text, "twig.json").root(), twig);
  return twig;
}

std::string error_in(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(JsonFields, WhatIsEmptyIsLeftOut) { EXPECT_EQ(written(Twig{}).dump(), R"({"end":0,"name":""})"); }

TEST(JsonFields, AreReadAsTheyWereWritten) {
  const std::string text =
      R"({"cut":"2026-11-23T10:00:00Z","end":9,"last":{"shade":"blue"},"leaves":[{"size":3},{}],)"
      R"("length":1.5,"name":"oak","named":{"a":{"size":1}}})";
  const Twig twig = read(text);
  EXPECT_EQ(twig.leaves.size(), 2u);
  EXPECT_EQ(twig.leaves.front().size, 3);
  EXPECT_EQ(twig.named.at("a").size, 1);
  EXPECT_EQ(twig.last.shade, LeafShade::blue);
  EXPECT_EQ(twig.end, static_cast<ExitCode>(9));
  EXPECT_EQ(written(twig).dump(), text);
}

TEST(JsonFields, WhatIsMissingOrOfAnotherKindIsRefused) {
  EXPECT_NE(error_in(R"({"end": 0})"), "");
  EXPECT_NE(error_in(R"({"name": 1, "end": 0})"), "");
  EXPECT_NE(error_in(R"({"name": "", "end": 256})"), "");
  EXPECT_NE(error_in(R"({"name": "", "end": 0, "last": {"size": 4294967296}})"), "");
  EXPECT_EQ(error_in(R"({"name": "", "end": 0, "last": {"shade": "green"}})"), "unknown value 'green'");
  EXPECT_EQ(error_in(R"({"name": "", "end": 0, "cut": "today"})"),
            "expected a date such as 2026-11-23T02:00:00Z, found 'today'");
}

Error error_of_bough(const std::string& text) {
  try {
    read_as<Bough>(JsonDocument::parse(text, "bough.json").root());
  } catch (const Error& error) {
    return error;
  }
  return {ExitCode::ok, ""};
}

TEST(JsonFields, MayBeOptionalOrAPath) {
  const std::string text = R"({"leaf":{"size":3},"name":"oak","place":"a/b","rings":2})";
  const auto bough = read_as<Bough>(JsonDocument::parse(text, "bough.json").root());
  ASSERT_TRUE(bough.leaf);
  EXPECT_EQ(bough.leaf->size, 3);
  EXPECT_EQ(bough.place, "a/b");
  EXPECT_EQ(fields_of(bough).dump(), text);
  EXPECT_EQ(fields_of(Bough{"oak", {}, {}, 1}).dump(), R"({"name":"oak"})");
}

TEST(JsonFields, AreCheckedByTheirFunctions) {
  EXPECT_NE(error_of_bough(R"({"name": "two words"})").message(), "");
  EXPECT_EQ(error_of_bough(R"({"name": "oak", "rings": 10})").where().pointer, "/rings");
  EXPECT_EQ(error_of_bough(R"({"name": "oak", "rings": 9})").message(), "");
}

TEST(JsonFields, OfOtherNamesAreRefusedWhereTheTypeSaysSo) {
  const Error error = error_of_bough(R"({"nam": "oak"})");
  EXPECT_EQ(error.message(), "unknown key 'nam'") << "and not that the name is missing";
  EXPECT_NE(error.hint().find("name"), std::string::npos) << error.hint();
  EXPECT_EQ(error_of_bough(R"({"name": "oak", "height": 3})").hint(), "known keys: name, leaf, place, rings");
  EXPECT_EQ(error_in(R"({"name": "", "end": 0, "height": 3})"), "") << "another type lets them be";
}

}  // namespace
}  // namespace kiln
