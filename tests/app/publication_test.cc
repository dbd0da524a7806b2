#include "factory/app/publication.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kiln
