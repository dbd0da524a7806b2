#include "factory/app/publication.h"

#include <gtest/gtest.h>

#include "support/plan_fixture.h"

namespace kiln {
namespace {

RegistryNews news_of(bool lost, bool foreign, bool unclear) {
  RegistryNews news;
  news.mended = {"hello: layer sha256:dd"};
  if (lost) news.lost = {"hello: layer sha256:bb"};
  if (foreign) news.foreign = {"hello:2.10: names sha256:aa there"};
  if (unclear) news.unclear = {"ai:gpu: two images"};
  return news;
}

TEST(RegistryNewsExitCode, NamesTheWorstOfThem) {
  EXPECT_EQ(exit_code_of(news_of(false, false, false)), ExitCode::ok) << "what was mended is no failure";
  EXPECT_EQ(exit_code_of(news_of(false, false, true)), ExitCode::input);
  EXPECT_EQ(exit_code_of(news_of(false, true, true)), ExitCode::locked);
  EXPECT_EQ(exit_code_of(news_of(true, true, true)), ExitCode::network);
  EXPECT_EQ(exit_code_of(news_of(true, false, false)), ExitCode::network);
}

TEST(ChosenPlace, TakesTheCommandLineBeforeTheSiteFile) {
  const PublishDestination of_site{"registry.site/ai", "/site/key", "/site/passphrase", {}};
  PublishDestination place = chosen_place(of_site, {});
  EXPECT_EQ(place.registry, "registry.site/ai");
  EXPECT_EQ(place.key, "/site/key");
  place = chosen_place(of_site, {"other.site", "", "", {}});
  EXPECT_EQ(place.registry, "other.site");
  EXPECT_EQ(place.key, "/site/key") << "the site's key signs there as well";
  EXPECT_EQ(place.passphrase_file, "/site/passphrase");
  place = chosen_place(of_site, {"", "/mine", "", {}});
  EXPECT_EQ(place.registry, "registry.site/ai");
  EXPECT_EQ(place.key, "/mine");
  EXPECT_EQ(place.passphrase_file, "") << "that of the site opens another key";
}

TEST(Pruning, OfMoreThanAFifthNeedsAYes) {
  EXPECT_FALSE(prunes_many({{}, 0}));
  EXPECT_FALSE(prunes_many({{"a"}, 5}));
  EXPECT_TRUE(prunes_many({{"a", "b"}, 9}));
  EXPECT_TRUE(prunes_many({{"a"}, 1}));
  const std::vector<std::string> names(21, "a");
  EXPECT_FALSE(prunes_many({names, 105}));
  EXPECT_TRUE(prunes_many({names, 104}));
}

IndexEntry entry(const std::string& tag, const std::string& registry) {
  IndexEntry one;
  one.image.repository = "hello";
  one.image.tag = tag;
  one.image.manifest = Digest::of(tag);
  one.image.published.registry = registry;
  return one;
}

TEST(NamesByRegistry, LeavesOutWhatWasNeverPushed) {
  const NamesByRegistry names =
      names_by_registry({entry("1", "a"), entry("2", "b"), entry("3", "a"), entry("4", "")});
  EXPECT_EQ(names, (NamesByRegistry{{"a", {"hello:1", "hello:3"}}, {"b", {"hello:2"}}}));
}

TEST(FollowingTags, MoveInTheFollowedRegistryAlone) {
  const NamesByRegistry before{{"a", {"hello:1", "hello:2", "hello:3"}}};
  const NamesByRegistry now{{"a", {"hello:1"}}, {"b", {"hello:1", "hello:4"}}};
  const FollowingTags tags = following_tags(before, now, "a");
  EXPECT_TRUE(tags.move);
  EXPECT_EQ(tags.newer, (std::vector<std::string>{"hello:2", "hello:3"}));
  EXPECT_EQ(tags.others, (std::map<std::string, std::size_t>{{"b", 2}}));
}

TEST(FollowingTags, OfARegistryThatNoLongerHasAnImageMoveOnce) {
  const FollowingTags tags = following_tags({{"a", {"hello:1"}}}, {}, "a");
  EXPECT_TRUE(tags.move);
  EXPECT_EQ(tags.newer, std::vector<std::string>{"hello:1"});
  EXPECT_TRUE(following_tags({}, {{"a", {"hello:1"}}}, "a").move) << "the older snapshot has some";
}

TEST(FollowingTags, StayWhereNoRegistryFollowsOrItHasNone) {
  EXPECT_FALSE(following_tags({{"a", {"hello:1"}}}, {{"a", {"hello:1"}}}, "").move);
  EXPECT_EQ(following_tags({}, {{"a", {"hello:1"}}}, "").others.at("a"), 1u);
  EXPECT_FALSE(following_tags({{"b", {"hello:1"}}}, {{"b", {"hello:1"}}}, "a").move);
}

TEST(RegistryNewsTrouble, IsAnErrorForEachExitCode) {
  EXPECT_FALSE(trouble_of(news_of(false, false, false)));
  EXPECT_EQ(trouble_of(news_of(true, true, true))->code(), ExitCode::network);
  EXPECT_EQ(trouble_of(news_of(true, false, false))->message(),
            "the registry lacks 1 part that the index answers with");
  RegistryNews news = news_of(false, true, true);
  EXPECT_EQ(trouble_of(news)->code(), ExitCode::locked);
  EXPECT_EQ(trouble_of(news)->message(), "a tag was moved by another program, and left as it is");
  news.foreign.push_back("hello:3");
  EXPECT_EQ(trouble_of(news)->message(), "tags were moved by another program, and left as they are");
  news = news_of(false, false, true);
  EXPECT_EQ(trouble_of(news)->code(), ExitCode::input);
  EXPECT_EQ(trouble_of(news)->message(), "1 alias of the site file is not clear, and left as it is");
  news.unclear.push_back("ai:cpu: none");
  EXPECT_EQ(trouble_of(news)->message(), "2 aliases of the site file are not clear, and left as they are");
}

template <typename Action>
Error publication_error(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ExitCode::ok, ""};
}

TEST(SitePlace, NamesTheLineOfTheSiteFileThatIsWrong) {
  Site site;
  site.file = "site.json";
  SiteAlias alias;
  alias.images = {"framework=pytorch"};
  site.publish.aliases = {SiteAlias{}, alias};
  site.publish.aliases[0].images = {"application=pytorch"};
  EXPECT_NO_THROW(site_place(site)) << "nothing goes to a registry";
  site.publish.registry = "registry.site:5000/ai";
  Error error = publication_error([&] { site_place(site); });
  EXPECT_EQ(error.code(), ExitCode::input);
  EXPECT_NE(error.format().find("site.json"), std::string::npos) << error.format();
  EXPECT_NE(error.format().find("/publish/aliases/1/images"), std::string::npos) << error.format();
  site.publish.aliases.pop_back();
  EXPECT_EQ(site_place(site).registry, "registry.site:5000/ai");
  site.publish.registry = "no registry";
  error = publication_error([&] { site_place(site); });
  EXPECT_NE(error.format().find("/publish/registry"), std::string::npos) << error.format();
}

TEST(Pruning, OfManyIsRefusedWithItsNumbers) {
  EXPECT_NO_THROW(refuse_many({{"a"}, 5}, "demo"));
  const Error error = publication_error([] { refuse_many({{"a", "b"}, 9}, "demo"); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.message(), "--prune would take out 2 of the 9 images that demo has in the index");
  EXPECT_EQ(error.hint(), "look at them with -n; --yes takes out more than 20 %");
}

TEST(Pruning, IsOfTheWholeMatrix) {
  PublishWishes wishes;
  EXPECT_NO_THROW(check_pruning(wishes));
  wishes.every_cell = false;
  EXPECT_NO_THROW(check_pruning(wishes));
  wishes.prune = true;
  EXPECT_EQ(publication_error([&] { check_pruning(wishes); }).message(),
            "--prune goes with the whole matrix, and cells are chosen");
  wishes.every_cell = true;
  wishes.yes = true;
  EXPECT_NO_THROW(check_pruning(wishes));
  wishes.prune = false;
  EXPECT_EQ(publication_error([&] { check_pruning(wishes); }).message(), "--yes goes with --prune");
}

TEST(PublishPlace, RefusesWhatGoesWithARegistryWhereThereIsNone) {
  PublishWishes wishes;
  EXPECT_EQ(publish_place({}, wishes).registry, "");
  wishes.place.key = "/mine";
  EXPECT_EQ(publication_error([&] { publish_place({}, wishes); }).message(), "--sign-key goes with --to");
  wishes.take_tags = true;
  EXPECT_EQ(publish_place({"registry.site/ai", "", "", {}}, wishes).key, "/mine");
  wishes.place.key.clear();
  EXPECT_EQ(publication_error([&] { publish_place({}, wishes); }).message(), "--take-tags goes with --to");
  wishes.place.registry = "other.site";
  EXPECT_EQ(publish_place({}, wishes).registry, "other.site");
}

TEST(WhyLackingUnknown, IsADamagedDerivationOrABrokenCell) {
  const testing::Resolver resolver;
  const auto plan = [&](const std::string& framework) {
    RecipeBook recipes = testing::book(testing::demo_recipes());
    Recipe keras;
    keras.kind = Kind::framework;
    keras.name = "keras";
    recipes.add_broken({keras, Error(ExitCode::input, "no method")});
    return plan_matrix(
        testing::matrix({testing::axis("framework", {framework}), testing::axis("base", {"debian"}),
                         testing::axis("target", {"zen3"})}),
        {recipes, resolver.input().targets, resolver.input().cpus});
  };
  EXPECT_FALSE(why_lacking_unknown(plan("pytorch"), {}));
  const auto damaged = why_lacking_unknown(plan("keras"), {Error(ExitCode::store, "train.json is damaged")});
  EXPECT_EQ(damaged->message(), "train.json is damaged");
  EXPECT_NE(damaged->format().find("while looking for the missing parts of demo"), std::string::npos);
  const auto broken = why_lacking_unknown(plan("keras"), {});
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->message(), "no method");
  EXPECT_NE(broken->format().find(" is broken, and its name is unknown"), std::string::npos)
      << broken->format();
}

}  // namespace
}  // namespace kiln
