// What a night moves in a lockfile by itself, and what it leaves for a person.
#include "factory/plan/lock_policy.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/lock_fixture.h"

namespace kiln::testing {
namespace {

constexpr std::int64_t kDay = 86400;
constexpr std::int64_t kStart = 1'795'000'000;  // 2026-11-18
constexpr auto kWeek = std::chrono::seconds(7 * kDay);
const std::string kUbuntu = "docker.io/library/ubuntu:18.04";

class LockPolicy : public LockFixture {
 protected:
  LockPolicy() {
    now = kStart;
    first = make();
  }
  PolicyUpdate night(const UpdatePolicy& policy, LockScope scope = LockScope::whole) {
    asked.clear();
    return with_needs(
        [&](const auto& needs) { return update_by_policy(needs, &first, scope, policy, sources()); });
  }
  static Lines held(const PolicyUpdate& update) {
    Lines lines;
    for (const HeldChange& change : update.held) lines.push_back(text_of(change));
    return lines;
  }
  static Lines changed(const PolicyUpdate& update) {
    Lines lines;
    for (const LockChange& change : update.changes) lines.push_back(change.id + " " + change.what);
    return lines;
  }
  const LockEntry& debian(const Lockfile& lock) { return lock.entries.at("base/debian@trixie:distro"); }
  const LockEntry& ubuntu(const Lockfile& lock) { return lock.entries.at("base/ubuntu@18.04:hub"); }

  Lockfile first;
};

TEST_F(LockPolicy, WhatIsPinnedSaysSinceWhen) {
  EXPECT_EQ(debian(first).since, rfc3339(kStart));
  EXPECT_EQ(first.entries.at("toolchain/bazel@3.1:source").since, "") << "a recipe's source does not move";
  now += kDay;
  EXPECT_EQ(lockfile_text(make(&first)), lockfile_text(first)) << "what is kept keeps its date";
  EXPECT_EQ(lockfile_text(update(first, {"*"})), lockfile_text(first)) << "nothing moved";
  upstream = "2";
  const Lockfile second = update(first, {"debian"});
  EXPECT_EQ(debian(second).since, rfc3339(now));
  EXPECT_EQ(ubuntu(second).since, rfc3339(kStart));
}

TEST_F(LockPolicy, AnArchitectureMoreIsNoMove) {
  targets = {"x86_64_v3"};
  first = make();
  now += kDay;
  targets = {"x86_64_v3", "neoverse_v1"};
  const Lockfile second = make(&first);
  EXPECT_EQ(debian(second).archives.size(), 2u);
  EXPECT_EQ(debian(second).since, rfc3339(kStart));
}

TEST_F(LockPolicy, WhatMovedIsHeldForAWeekAndThenMoves) {
  upstream = "2";
  now += 3 * kDay;
  PolicyUpdate third = night({});
  EXPECT_EQ(changed(third), Lines());
  EXPECT_EQ(lockfile_text(third.lock), lockfile_text(first));
  ASSERT_EQ(third.held.size(), 4u);
  EXPECT_EQ(held(third)[0], "base/debian@trixie:distro: archive amd64 trixie 1 → trixie 2, held until " +
                                rfc3339(kStart + 7 * kDay));
  EXPECT_EQ(to_json(third.held[0]).at("until"), rfc3339(kStart + 7 * kDay));
  now = kStart + 7 * kDay - 1;
  EXPECT_EQ(changed(night({})), Lines());
  now += 1;
  PolicyUpdate week = night({});
  EXPECT_EQ(changed(week),
            (Lines{"base/debian@trixie:distro archive amd64", "base/debian@trixie:distro archive arm64",
                   "base/ubuntu@18.04:hub digest amd64", "base/ubuntu@18.04:hub digest arm64"}));
  EXPECT_EQ(held(week), Lines());
  EXPECT_EQ(debian(week.lock).since, rfc3339(now));
  // And from then on, a week again.
  first = week.lock;
  upstream = "3";
  now += 6 * kDay;
  EXPECT_EQ(changed(night({})), Lines());
}

// The archives hold something else by now: to hold the pin would mean to fail until it may move.
TEST_F(LockPolicy, APinThatNobodyCanBuildAnyMoreMovesAtOnce) {
  upstream = "2";
  now += 1;
  built.clear();
  EXPECT_EQ(changed(night({})),
            (Lines{"base/debian@trixie:distro archive amd64", "base/debian@trixie:distro archive arm64"}))
      << "a digest can still be pulled";
  EXPECT_EQ(changed(night({.archives = std::nullopt})), Lines()) << "never is never";
}

TEST_F(LockPolicy, EachNightAndNever) {
  upstream = "2";
  now += 1;
  PolicyUpdate update = night({.bases = std::chrono::seconds(0), .archives = std::nullopt});
  EXPECT_EQ(changed(update),
            (Lines{"base/ubuntu@18.04:hub digest amd64", "base/ubuntu@18.04:hub digest arm64"}));
  EXPECT_EQ(asked, (Lines{kUbuntu + " amd64", kUbuntu + " arm64"})) << "what never moves is not asked for";
  EXPECT_EQ(held(update), Lines());
}

TEST_F(LockPolicy, WithoutADateItIsOldEnough) {
  for (auto& [id, entry] : first.entries) entry.since.clear();
  upstream = "2";
  EXPECT_EQ(changed(night({})).size(), 4u);
}

TEST_F(LockPolicy, AClockThatWasWrongHoldsNothingForYears) {
  for (auto& [id, entry] : first.entries) entry.since = "2126-01-01T00:00:00Z";
  upstream = "2";
  PolicyUpdate update = night({});
  ASSERT_EQ(update.held.size(), 4u);
  EXPECT_EQ(update.held[0].until, now + kWeek.count());
}

TEST_F(LockPolicy, AnIntervalWithoutEndIsNoOverflow) {
  upstream = "2";
  PolicyUpdate update =
      night({.bases = std::chrono::seconds::max(), .archives = std::chrono::seconds::max()});
  EXPECT_EQ(changed(update), Lines());
  EXPECT_EQ(held(update).size(), 4u);
}

TEST_F(LockPolicy, AMirrorThatCannotBeAskedKeepsItsPin) {
  upstream = "2";
  now += kWeek.count();
  silent.emplace("debian", Error(ExitCode::network, "no route to the archives"));
  silent.emplace(kUbuntu, Error(ExitCode::input, "manifest unknown"));
  PolicyUpdate update = night({});
  EXPECT_EQ(changed(update), Lines());
  ASSERT_EQ(update.problems.size(), 2u);
  EXPECT_EQ(update.problems[0].id, "base/debian@trixie:distro");
  EXPECT_EQ(update.problems[0].why.message(), "no route to the archives");
  silent.clear();
  EXPECT_EQ(changed(night({})).size(), 4u) << "the next night asks again";
}

TEST_F(LockPolicy, WhoIsToldToStopStops) {
  now += kWeek.count();
  silent.emplace("debian", Error(ExitCode::interrupted, "interrupted"));
  EXPECT_THROW(night({}), Error);
}

TEST_F(LockPolicy, NewEntriesArePinnedWhereNothingIsLocked) {
  bases = {"debian"};
  first = make();
  bases = {"ubuntu", "debian"};
  now += 1;
  upstream = "2";
  PolicyUpdate update = night({});
  EXPECT_EQ(changed(update), (Lines{"base/ubuntu@18.04:hub entry"}));
  EXPECT_EQ(ubuntu(update.lock).since, rfc3339(now));
  EXPECT_EQ(std::count(asked.begin(), asked.end(), kUbuntu + " amd64"), 1) << "once is enough";
  update = night({}, LockScope::pins_only);
  EXPECT_EQ(changed(update), Lines());
  EXPECT_EQ(held(update).size(), 2u) << "of debian";
  silent.emplace(kUbuntu, Error(ExitCode::network, "no route"));
  update = night({});
  EXPECT_FALSE(update.lock.entries.contains("base/ubuntu@18.04:hub")) << "asked again by the next night";
  EXPECT_EQ(update.problems.size(), 1u);
}

TEST_F(LockPolicy, WhatNothingNeedsGoesUnlessSomebodyMay) {
  edited = "all";
  bases = {"debian"};
  targets = {"x86_64_v3"};
  EXPECT_FALSE(night({}).lock.entries.contains("base/ubuntu@18.04:hub"));
  const Lockfile more = night({}, LockScope::additions).lock;
  EXPECT_TRUE(more.entries.contains("base/ubuntu@18.04:hub"));
  EXPECT_EQ(debian(more).archives, debian(first).archives) << "with the other architecture";
  EXPECT_EQ(debian(more).since, rfc3339(kStart));
  EXPECT_EQ(debian(more).recipe, Digest::of("debianall"));
  EXPECT_EQ(lockfile_text(night({}, LockScope::pins_only).lock), lockfile_text(first));
}

TEST_F(LockPolicy, LockedMovesPinsAndNoRecipe) {
  edited = "not reviewed";
  upstream = "2";
  now += kWeek.count();
  PolicyUpdate update = night({}, LockScope::pins_only);
  EXPECT_EQ(changed(update).size(), 4u);
  EXPECT_EQ(debian(update.lock).recipe, debian(first).recipe);
}

TEST_F(LockPolicy, FlagTablesFollowWhatIsInstalledOrWaitForAPerson) {
  first.archspec = "0.2.4";
  EXPECT_EQ(changed(night({})), (Lines{"archspec entry"}));
  PolicyUpdate update = night({.archspec = false});
  EXPECT_EQ(changed(update), Lines());
  EXPECT_EQ(held(update), (Lines{"archspec: 0.2.4 → 0.2.5, held, as the site says \"never\""}));
  EXPECT_EQ(to_json(update.held[0]).at("until"), Json());
}

TEST_F(LockPolicy, ANightWithoutALockfileMakesOne) {
  PolicyUpdate update = with_needs(
      [&](const auto& needs) { return update_by_policy(needs, nullptr, LockScope::whole, {}, sources()); });
  EXPECT_EQ(lockfile_text(update.lock), lockfile_text(first));
  EXPECT_EQ(update.changes.size(), 4u);
}

TEST_F(LockPolicy, OfAFloatingBaseNothingIsAsked) {
  bases = {"busybox", "local"};
  targets = {"x86_64_v3"};
  first = make();
  now += kWeek.count();
  EXPECT_EQ(changed(night({})), Lines());
  EXPECT_EQ(asked, Lines());
}

}  // namespace
}  // namespace kiln::testing
