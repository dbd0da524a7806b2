// How the facts of recipes are known: read, matched, printed; and of the repository's own recipes, all.
#include <gtest/gtest.h>

#include <map>

#include "factory/lint/recipe_source.h"
#include "support/fake_effects.h"

namespace kiln::lint {
namespace {

using kiln::testing::FakeFileSystem;

constexpr std::string_view kBase = R"({
  "versions": {
    "2.0": {"facts": {"cuda": "12.9", "python": "3.12"}},
    "1.0": {"facts": {"cuda": "10.1"}, "source": {"url": "https://example.org/a", "checksum": "git:)"
                                   R"(0123456789012345678901234567890123456789"}}
  },
  "sources": [
    {"of": ["1.0/cuda", "*/python"], "known": "read", "from": "a|b"},
    {"of": "*/cuda", "known": "not known"},
    {"of": "*/image", "known": "seen", "from": "elsewhere"}
  ],
  "methods": {"hub": {"versions": ">=2", "image": "docker.io/x/y:{version}"}, "distro": {"rootfs": "r.sh"}}
})";

std::vector<RecipeFacts> of_base(std::string_view json = kBase) {
  FakeFileSystem files(
      {{"recipes/base/b/recipe.json", std::string(json)}, {"recipes/base/b/r.sh", "true\n"}});
  return facts_of_recipes({"recipes/base/b/recipe.json"}, files, {"recipes"});
}

TEST(Facts, TheFirstEntryThatSpeaksOfAFactCounts) {
  const auto all = of_base();
  ASSERT_EQ(all.size(), 1u);
  std::map<std::string, std::string> known;
  for (const Fact& fact : all[0].facts) {
    const FactSource* source = source_of(fact, all[0].sources);
    known[fact.path] =
        source == nullptr ? "nobody" : std::string(name_of(source->known)) + " " + source->from;
  }
  EXPECT_EQ(known, (std::map<std::string, std::string>{{"1.0/cuda", "read a|b"},
                                                       {"1.0/source", "nobody"},
                                                       {"2.0/cuda", "not known "},
                                                       {"2.0/image", "seen elsewhere"},
                                                       {"2.0/python", "read a|b"}}));
  EXPECT_EQ(all[0].facts.front().value, "docker.io/x/y:2.0") << "of the method that has the version";
}

TEST(Facts, AreATableAndASentence) {
  const auto all = of_base();
  EXPECT_EQ(facts_in_short(all), "5 facts: 2 read, 1 seen, 2 not known");
  EXPECT_EQ(facts_as_markdown(all),
            "5 facts: 2 read, 1 seen, 2 not known.\n\n"
            "| recipe | version/fact | facts | known | from |\n|---|---|---|---|---|\n"
            "| base/b | `1.0/cuda, */python` | 2 | read | a\\|b |\n"
            "| base/b | `*/cuda` | 1 | not known |  |\n"
            "| base/b | `*/image` | 1 | seen | elsewhere |\n"
            "| base/b | `the others` | 1 | not known |  |\n");
  EXPECT_NE(facts_as_json(all).find(R"("fact": "1.0/source")"), std::string::npos);
}

TEST(Facts, AreRefusedAtTheirPlace) {
  auto error = [](const std::string& from, const std::string& to) {
    std::string json(kBase);
    json.replace(json.find(from), from.size(), to);
    try {
      of_base(json);
    } catch (const Error& refused) {
      return refused.format();
    }
    return std::string("none");
  };
  EXPECT_EQ(
      error(R"("known": "read", "from": "a|b")", R"("known": "read")"),
      "recipes/base/b/recipe.json:7:5: error: this does not say from where (at /sources/0); \"from\" is an "
      "address, or how it follows from what");
  EXPECT_EQ(error("\"seen\"", "\"sean\""),
            "recipes/base/b/recipe.json:9:32: error: expected how something is known, found 'sean' (at "
            "/sources/2/known); did you mean 'seen'?");
  EXPECT_EQ(error(R"("of": "*/cuda")", R"("of": [])"),
            "recipes/base/b/recipe.json:8:12: error: expected at least one pattern, found an empty array (at "
            "/sources/1/of)");
}

// Of this repository's own recipes.
class OwnFacts : public ::testing::Test {
 protected:
  OwnFacts() {
    const fs::path root = fs::path(KILN_SOURCE_DIR) / "recipes";
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(root))
      if (entry.path().filename() == "recipe.json") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    all = facts_of_recipes(paths, files, {root});
  }
  RealFileSystem files;
  std::vector<RecipeFacts> all;
};

TEST_F(OwnFacts, EachSaysHowItIsKnown) {
  EXPECT_GT(all.size(), 20u);
  for (const RecipeFacts& recipe : all)
    for (const Fact& fact : recipe.facts)
      EXPECT_NE(source_of(fact, recipe.sources), nullptr) << recipe.component << ": " << fact.path;
}

TEST_F(OwnFacts, StandOnThePage) {
  const std::string page = files.read(fs::path(KILN_SOURCE_DIR) / "docs" / "catalogue.md").value_or("");
  EXPECT_NE(page.find(facts_as_markdown(all)), std::string::npos)
      << "docs/catalogue.md is out of date: put in the text of `kiln lint --facts --format markdown recipes`";
}

}  // namespace
}  // namespace kiln::lint
