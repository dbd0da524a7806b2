#include "factory/plan/proposals.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "support/input_errors.h"
#include "support/plan_fixture.h"

namespace kiln::testing {
namespace {

using Lines = std::vector<std::string>;
using Released = std::vector<UpstreamRelease>;
constexpr std::int64_t kNight = 1'795'000'000;
const std::string kSum(40, 'c');

Recipe pytorch() {
  RecipeDraft draft(Kind::framework, "pytorch", {"2.15.0", "2.14.1", "1.4.0"});
  draft.get().versions[0].facts = {{"python", "3.12"}};
  return draft.get();
}
Upstream torch(const std::string& range = "*") { return {"torch", "", "", VersionRange::parse(range), {}}; }

std::string newer(const std::string& range, const std::vector<std::string>& versions) {
  Released releases;
  for (const std::string& version : versions) releases.push_back({version});
  const auto proposal = newer_release(pytorch(), torch(range), releases);
  return proposal ? proposal->release.version : "";
}

TEST(NewerRelease, IsTheNewestBeyondTheRecipesOwn) {
  EXPECT_EQ(newer("*", {"2.15.0", "2.14.2", "2.9.1"}), "") << "a gap is no news";
  EXPECT_EQ(newer("*", {"2.15", "2.15.0.0"}), "") << "the same version";
  EXPECT_EQ(newer("*", {"2.16.0", "2.15.1", "2.2.0"}), "2.16.0");
  EXPECT_EQ(newer("*", {"2.15.0.post1"}), "2.15.0.post1");
  EXPECT_EQ(newer("<2.16", {"2.16.0", "2.15.1", "2.15.10", "2.15.9"}), "2.15.10");
  EXPECT_EQ(newer("2.14", {"2.16.0", "2.14.2"}), "2.14.2") << "a range makes a series of its own";
  EXPECT_EQ(newer("2.13", {"2.13.0", "2.13.1"}), "2.13.1") << "the recipe has none of it";
  EXPECT_EQ(newer("!=2.16.0", {"2.16.0"}), "") << "how a site says no";
  EXPECT_EQ(newer("*", {}), "");
}

TEST(NewerRelease, IsNoPreRelease) {
  EXPECT_EQ(newer("*", {"2.16.0rc1", "2.16.0a0", "2.16.0.dev20261101"}), "");
  EXPECT_EQ(newer(">=2.16.0rc1", {"2.16.0rc1"}), "2.16.0rc1");
}

TEST(NewerRelease, IsNothingThatIsNoName) {
  EXPECT_EQ(newer("*", {"1!99999999999.0", "../3.0", "v3", "3 0", std::string(300, '9'), "", "3.0\x1b"}), "");
  EXPECT_EQ(newer("*", {"99999999999999999999999999.0"}), "99999999999999999999999999.0")
      << "a person looks at it";
}

TEST(NewerRelease, SaysWhatToWriteInTheRecipe) {
  Recipe recipe = pytorch();
  auto one = newer_release(recipe, torch(), {{"2.16.0", "2026-11-20T08:00:00Z"}});
  ASSERT_TRUE(one);
  EXPECT_EQ(text_of(*one),
            "framework/pytorch: 2.16.0 (has 2.15.0), torch on the package index, released 2026-11-20");
  EXPECT_EQ(one->recipe, "recipes/framework/pytorch/recipe.json:4");
  EXPECT_EQ(one->version.dump(), R"({"facts":{"python":"3.12"}})");
  const Upstream git{"", "https://example.org/x.git", "v*", {}, {}};
  one = newer_release(recipe, git, {{"2.16.0", "", kSum}});
  EXPECT_EQ(text_of(*one),
            "framework/pytorch: 2.16.0 (has 2.15.0), https://example.org/x.git, commit cccccccccccc");
  EXPECT_FALSE(one->version.contains("source")) << "its versions have none";
  recipe.versions[0].source_url = "https://example.org/x";
  recipe.versions[0].source_checksum = "git:" + std::string(40, 'a');
  one = newer_release(recipe, git, {{"2.16.0", "", kSum}});
  EXPECT_EQ(one->version["source"], (Json{{"url", "https://example.org/x"}, {"checksum", "git:" + kSum}}));
  one = newer_release(recipe, torch("2.13"), {{"2.13.0"}});
  EXPECT_EQ(text_of(*one), "framework/pytorch: 2.13.0 (none in 2.13), torch on the package index");
}

TEST(WithVersion, IsTheFirstOfTheVersionsAndNothingElseMoves) {
  Proposal one;
  one.recipe = "recipes/framework/x/recipe.json:4";
  one.release.version = "2.0";
  one.version = {{"facts", {{"b", "it's \"2\""}, {"a", "1"}}}};
  EXPECT_EQ(line_of(one), R"("2.0": {"facts": {"a": "1", "b": "it's \"2\""}})");
  EXPECT_EQ(with_version(
                "{\n  // \"versions\": {\n  \"versions\": {\n    // newest\n    \"1.0\": {}\n  }\n}\n", one),
            "{\n  // \"versions\": {\n  \"versions\": {\n    \"2.0\": {\"facts\": {\"a\": \"1\", \"b\": "
            "\"it's \\\"2\\\"\"}},\n    "
            "// newest\n    \"1.0\": {}\n  }\n}\n");
  one.version = Json::object();
  EXPECT_EQ(with_version(R"(/* ü */ {"versions": {"1.0": {}}})", one),
            R"(/* ü */ {"versions": {"2.0": {},"1.0": {}}})");
  EXPECT_THROW(with_version(R"({"versions": {"2.0": {}}})", one), Error) << "it is there already";
  EXPECT_THROW(with_version("{}", one), Error);
  EXPECT_THROW(with_version("", one), Error);
}

TEST(ReleasesOfTags, AreWhatTheStarStandsFor) {
  const std::map<std::string, std::string> tags = {
      {"v1.0", kSum},  {"v2.0-rc1", kSum},   {"release/3.0", kSum}, {"v", kSum},
      {"vnext", kSum}, {"v../../etc", kSum}, {"v3.0", "not a sum"}, {"v1!9.0", kSum},
      {"V4.0", kSum},  {"v5.0-final", kSum}, {"v6.0\n7.0", kSum}};
  auto versions = [&](const std::string& pattern) {
    Lines lines;
    for (const UpstreamRelease& release : releases_of_tags(pattern, tags)) lines.push_back(release.version);
    return lines;
  };
  EXPECT_EQ(versions("v*"), (Lines{"1.0", "2.0-rc1", "5.0-final"}));
  EXPECT_EQ(versions("v*-final"), (Lines{"5.0"}));
  EXPECT_EQ(versions("release/*"), (Lines{"3.0"}));
  EXPECT_EQ(versions("v5.0-final*v5.0-final"), Lines());
}

// Nights in a row: what is found each time, and what is shown.
class Nights : public ::testing::Test {
 protected:
  static Proposal newer_of(const std::string& component, const std::string& version) {
    Proposal one;
    one.component = component;
    one.upstream = "u";
    one.range = "*";
    one.release.version = version;
    return one;
  }
  // `found`: "component version" each; silent ones did not answer.
  Lines night(const Lines& found, int most = 2, const std::set<std::string>& silent = {}) {
    std::vector<Proposal> proposals;
    for (const std::string& line : found)
      proposals.push_back(newer_of(line.substr(0, line.find(' ')), line.substr(line.find(' ') + 1)));
    std::set<std::string> asked, known;
    for (const std::string& component : components) {
      known.insert(place_of(component, "u", "*"));
      if (!silent.contains(component)) asked.insert(place_of(component, "u", "*"));
    }
    last = choose_proposals(proposals, asked, known, memory, most, now);
    // As from one night to the next.
    memory = read_proposals(JsonDocument::parse(proposals_text(last.memory), "proposals.json"));
    EXPECT_EQ(proposals_text(memory), proposals_text(last.memory));
    now += 86400;
    Lines lines;
    for (const Proposal& one : last.shown)
      lines.push_back(one.component + " " + one.release.version + (one.is_new ? " new" : ""));
    return lines;
  }
  Lines components = {"a", "b", "c", "d"};
  ProposalMemory memory;
  Proposals last;
  std::int64_t now = kNight;
};

TEST_F(Nights, AtMostAFewInTheOrderInWhichTheyWereSeen) {
  EXPECT_EQ(night({"c 1"}), (Lines{"c 1 new"}));
  EXPECT_EQ(night({"a 1", "b 1", "c 1", "d 1"}), (Lines{"c 1", "a 1 new"}));
  EXPECT_EQ(last.waiting.size(), 2u);
  EXPECT_EQ(night({"a 1", "b 1", "c 1", "d 1"}), (Lines{"c 1", "a 1"})) << "no noise";
  EXPECT_EQ(night({"a 1", "b 1", "d 1"}), (Lines{"a 1", "b 1 new"})) << "c was taken";
  EXPECT_EQ(last.shown[0].first_seen, kNight + 86400);
  EXPECT_EQ(night({}), Lines());
  EXPECT_TRUE(memory.places.empty());
}

TEST_F(Nights, ANewerOneTakesThePlaceOfItsOwn) {
  night({"a 1", "b 1", "c 1"});
  EXPECT_EQ(night({"a 2", "b 1", "c 1"}), (Lines{"a 2", "b 1"}));
  EXPECT_EQ(last.shown[0].first_seen, kNight);
}

TEST_F(Nights, WhoDoesNotAnswerKeepsTheirPlace) {
  night({"a 1", "b 1", "c 1"});
  EXPECT_EQ(night({"b 1", "c 1"}, 2, {"a"}), (Lines{"a 1", "b 1"}));
  components = {"b", "c", "d"};
  EXPECT_EQ(night({"b 1", "c 1"}), (Lines{"b 1", "c 1 new"})) << "no recipe has this upstream any more";
}

TEST_F(Nights, NoneIsNone) {
  EXPECT_EQ(night({"a 1"}, 0), Lines());
  EXPECT_EQ(night({"a 1"}, 1), (Lines{"a 1 new"}));
}

TEST(ProposalMemory, WhatIsNoMemoryIsRefused) {
  auto read = [](const std::string& text) {
    return input_error([&] { read_proposals(JsonDocument::parse(text, "proposals.json")); });
  };
  EXPECT_NE(read("{}"), "no error");
  EXPECT_NE(read(R"({"places": [{}]})"), "no error");
  const std::string place =
      R"({"component": "a", "upstream": "u", "range": "*", "version": "VERSION", "first_seen": "DATE", "shown": true})";
  auto with = [&](const std::string& version, const std::string& date) {
    std::string text = place;
    text.replace(text.find("VERSION"), 7, version).replace(text.find("DATE"), 4, date);
    return read(R"({"places": [)" + text + "]}");
  };
  EXPECT_EQ(with("1.0", "2026-11-23T10:00:00Z"), "no error");
  EXPECT_NE(with("../1", "2026-11-23T10:00:00Z"), "no error");
  EXPECT_NE(with("1.0", "soon"), "no error");
}

}  // namespace
}  // namespace kiln::testing
