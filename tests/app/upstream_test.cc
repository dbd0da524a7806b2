#include "factory/app/upstream.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/plan_fixture.h"

namespace kiln::testing {
namespace {

constexpr std::int64_t kNight = 1'795'000'000;

class UpstreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    add("pytorch", {"torch", "", "", VersionRange::parse("*"), {}});
    add("jax", {"jax", "", "", VersionRange::parse("*"), {}});
    add("llama", {"", "https://example.org/llama.git", "v*", VersionRange::parse("*"), {}});
  }

  void add(const std::string& name, Upstream upstream) {
    RecipeDraft draft(Kind::framework, name, {"2.0"});
    draft.get().upstream = {std::move(upstream)};
    recipes_.add(draft.get());
  }

  UpstreamNews ask(const std::vector<std::string>& needed, int most = 9) {
    LockNeeds needs;
    for (const std::string& name : needed) needs[name].component = recipes_.find(Kind::framework, name);
    return newer_upstream(recipes_, needs, memory_, most, kNight,
                          {[this](const std::string& package) {
                             asked_.push_back(package);
                             if (error_) throw Error(*error_);
                             return PackageReleases{{{"2.1", "2026-11-20T00:00:00Z"}}, odd_};
                           },
                           [this](const std::string& repository) {
                             asked_.push_back(repository);
                             return std::map<std::string, std::string>{{"v2.2", std::string(40, 'c')},
                                                                       {"latest", std::string(40, 'd')}};
                           }});
  }

  static std::vector<std::string> versions(const std::vector<Proposal>& proposals) {
    std::vector<std::string> all;
    for (const Proposal& one : proposals) all.push_back(one.component + "@" + one.release.version);
    return all;
  }

  RecipeBook recipes_;
  ProposalMemory memory_;
  std::optional<Error> error_;
  std::size_t odd_ = 0;
  std::vector<std::string> asked_;
};

TEST_F(UpstreamTest, AsksForWhatThePlanNeedsAndNothingElse) {
  const UpstreamNews news = ask({"jax", "llama"});
  EXPECT_EQ(asked_, (std::vector<std::string>{"jax", "https://example.org/llama.git"}));
  EXPECT_EQ(versions(news.proposals.shown),
            (std::vector<std::string>{"framework/jax@2.1", "framework/llama@2.2"}));
  EXPECT_TRUE(news.problems.empty());
}

TEST_F(UpstreamTest, ShowsAtMostSoMany) {
  const UpstreamNews news = ask({"pytorch", "jax", "llama"}, 1);
  EXPECT_EQ(news.proposals.shown.size(), 1u);
  EXPECT_EQ(news.proposals.waiting.size(), 2u);
}

TEST_F(UpstreamTest, DoesNotWaitAgainForAnIndexThatIsSilent) {
  error_ = Error(ExitCode::network, "pypi.org: connection refused");
  const UpstreamNews news = ask({"pytorch", "jax", "llama"});
  EXPECT_EQ(asked_, (std::vector<std::string>{"jax", "https://example.org/llama.git"}))
      << "pytorch comes last";
  ASSERT_EQ(news.problems.size(), 2u) << "each component has the reason";
  EXPECT_EQ(news.problems[1].component, "framework/pytorch");
  EXPECT_EQ(news.problems[1].why.message(), "pypi.org: connection refused");
  EXPECT_EQ(versions(news.proposals.shown), std::vector<std::string>{"framework/llama@2.2"});
}

TEST_F(UpstreamTest, GoesOnAfterAPackageThatTheIndexDoesNotHave) {
  error_ = Error(ExitCode::no_match, "there is no package");
  ask({"pytorch", "jax"});
  EXPECT_EQ(asked_, (std::vector<std::string>{"jax", "torch"}));
}

TEST_F(UpstreamTest, IsInterruptedAtOnce) {
  error_ = Error(ExitCode::interrupted, "interrupted");
  EXPECT_THROW(ask({"jax"}), Error);
}

TEST_F(UpstreamTest, CountsFilesWithoutAVersionAsAProblemBesideTheAnswer) {
  odd_ = 1;
  UpstreamNews news = ask({"jax"});
  ASSERT_EQ(news.problems.size(), 1u);
  EXPECT_EQ(news.problems[0].why.message(),
            "jax on the package index: 1 file has no version that kiln can compare");
  EXPECT_EQ(news.proposals.shown.size(), 1u);
  odd_ = 2;
  EXPECT_NE(ask({"jax"}).problems[0].why.message().find("2 files have"), std::string::npos);
}

TEST_F(UpstreamTest, ProposesANewVersionOnceAndKeepsItsPlaceWhileTheIndexIsSilent) {
  memory_ = ask({"jax"}).proposals.memory;
  const UpstreamNews again = ask({"jax"});
  ASSERT_EQ(again.proposals.shown.size(), 1u);
  EXPECT_FALSE(again.proposals.shown[0].is_new);
  EXPECT_EQ(ask({}).proposals.memory.places.size(), 1u) << "no cell needs it tonight";
  error_ = Error(ExitCode::network, "pypi.org: connection refused");
  EXPECT_EQ(ask({"jax"}).proposals.memory.places.size(), 1u);
}

TEST_F(UpstreamTest, KeepsThePlaceOfARecipeThatIsBrokenToday) {
  memory_ = ask({"jax"}).proposals.memory;
  ASSERT_EQ(memory_.places.size(), 1u);
  RecipeBook others;
  others.add(RecipeDraft(Kind::framework, "pytorch", {"2.0"}).get());
  recipes_ = others;
  EXPECT_TRUE(ask({}).proposals.memory.places.empty()) << "a recipe that is gone proposes nothing";
  recipes_.add_broken({RecipeDraft(Kind::framework, "jax", {"2.0"}).get(), Error(ExitCode::input, "wrong")});
  EXPECT_EQ(ask({}).proposals.memory.places.size(), 1u);
}

TEST_F(UpstreamTest, IsADocumentOfProposalsAndProblems) {
  odd_ = 1;
  const Json json = to_json(ask({"jax", "llama"}, 1));
  EXPECT_EQ(json["proposals"].size(), 1u);
  EXPECT_EQ(json["proposals"][0]["is_new"], true);
  EXPECT_EQ(json["waiting"].size(), 1u);
  EXPECT_EQ(json["problems"][0]["component"], "framework/jax");
}

}  // namespace
}  // namespace kiln::testing
