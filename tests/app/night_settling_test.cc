#include "factory/app/night_settling.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr std::int64_t kOneDay = 86'400;

NightReport report_with(std::vector<NightTrouble> troubles, NightState state = NightState::green) {
  NightReport report;
  report.number = 3;
  report.ended = 1'700'000'000;
  report.state = state;
  report.troubles = std::move(troubles);
  return report;
}

NightTrouble trouble(TroubleCause cause, ExitCode code) {
  NightTrouble one;
  one.cause = cause;
  one.code = code;
  return one;
}

TEST(NightSettling, AGreenNightIsTheLastGreenOne) {
  NightReport report = report_with({});
  settle(report, {});
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.last_green, report.ended);
}

TEST(NightSettling, TroubleIsRedAndGivesTheExitCode) {
  NightReport report = report_with(
      {trouble(TroubleCause::refused, ExitCode::network), trouble(TroubleCause::disk, ExitCode::store)});
  settle(report, {});
  EXPECT_EQ(report.state, NightState::red);
  EXPECT_EQ(report.exit_code, 6);
  EXPECT_EQ(report.last_green, 0);
  EXPECT_EQ(report.troubles[0].actor, Actor::site);
  EXPECT_EQ(report.troubles[0].since, 3);
  const NightReport once = report;
  settle(report, {});
  EXPECT_EQ(report.troubles[0].advice, once.troubles[0].advice);
  EXPECT_EQ(report.exit_code, once.exit_code);
}

TEST(NightSettling, OtherStatesStay) {
  NightReport held = report_with({trouble(TroubleCause::tag, ExitCode::locked)}, NightState::held);
  settle(held, {});
  EXPECT_EQ(held.state, NightState::held);
  EXPECT_EQ(held.exit_code, 7);
  NightReport red = report_with({}, NightState::red);
  settle(red, {});
  EXPECT_EQ(red.exit_code, 1);
  NightReport ended = report_with({trouble(TroubleCause::disk, ExitCode::store)}, NightState::interrupted);
  settle(ended, {});
  EXPECT_EQ(ended.exit_code, 130);
}

TEST(NightSettling, EachTagIsATrouble) {
  const auto troubles =
      tag_troubles({"hello:2.10: names sha256:aa there", "hello:2.1: names sha256:bb there"},
                   {"modak:gpu: two images are for linux/amd64"});
  ASSERT_EQ(troubles.size(), 3u);
  EXPECT_EQ(troubles[0].subject, "hello:2.10");
  EXPECT_EQ(troubles[0].code, ExitCode::locked);
  EXPECT_EQ(troubles[2].subject, "modak:gpu");
  EXPECT_EQ(troubles[2].code, ExitCode::input);
  EXPECT_EQ(troubles[2].actor, Actor::site);
}

TEST(NightSettling, TheClockAndMissedNightsAreRemarks) {
  EXPECT_TRUE(remarks_on_time(1000 * kOneDay, 0, kOneDay).empty());
  EXPECT_TRUE(remarks_on_time(1000 * kOneDay, 999 * kOneDay, kOneDay).empty());
  EXPECT_TRUE(remarks_on_time(1000 * kOneDay, 900 * kOneDay, 0).empty());
  EXPECT_EQ(remarks_on_time(1000 * kOneDay, 997 * kOneDay, kOneDay),
            std::vector<std::string>{"2 nights did not run: the last one began at 1972-09-24T00:00:00Z"});
  EXPECT_EQ(remarks_on_time(1000 * kOneDay, 1000 * kOneDay - kOneDay * 5 / 2, kOneDay).at(0).substr(0, 8),
            "2 nights")
      << "a night may begin half a day late";
  EXPECT_EQ(
      remarks_on_time(1000 * kOneDay, 1001 * kOneDay, kOneDay),
      std::vector<std::string>{"the clock went back: the night before began at 1972-09-28T00:00:00Z, and "
                               "this one at 1972-09-27T00:00:00Z"});
}

TEST(NightSettling, ForgedStepsAreOneTrouble) {
  const NightTrouble one = forged_trouble({{"k", "busybox (distro)", "its signature does not match"}});
  EXPECT_EQ(one.cause, TroubleCause::forged);
  EXPECT_EQ(one.what,
            "1 signed step of other builders not trusted: busybox (distro): its signature does not match");
  const NightTrouble two = forged_trouble({{"k", "a", "x"}, {"l", "b", "x"}});
  EXPECT_EQ(two.what, "2 signed steps of other builders not trusted: a: x (and 1 more)");
}

TEST(NightSettling, OfManyPartsThatWerePushedAgainTwentyAreNamed) {
  EXPECT_EQ(mended_remarks(std::vector<std::string>(20, "hello: layer")).size(), 20u);
  const std::vector<std::string> remarks = mended_remarks(std::vector<std::string>(25, "hello: layer"));
  ASSERT_EQ(remarks.size(), 21u);
  EXPECT_EQ(remarks.back(), "the registry had lost a part, which was pushed again: 5 more");
}

TEST(NightSettling, BasesThatNothingPinsAreARemark) {
  Recipe recipe;
  ComponentVersion version;
  Method pulled, made, archived;
  archived.archive = "archive.sh";
  LockNeeds needs;
  needs["base/debian@13:hub"] = {&recipe, &version, &pulled, "debian:13"};
  needs["base/busybox@1.35:distro"] = {&recipe, &version, &made, ""};
  EXPECT_EQ(floating_remark(needs, "demo.json"),
            "a base floats without a lockfile: base/debian@13:hub; `kiln lock -f demo.json` pins it");
  needs["base/ubuntu@24.04:distro"] = {&recipe, &version, &archived, ""};
  needs["base/pinned@1:hub"] = {&recipe, &version, &pulled, "a@sha256:" + std::string(64, '0')};
  EXPECT_EQ(floating_remark(needs, "demo.json"),
            "bases float without a lockfile: base/debian@13:hub, base/ubuntu@24.04:distro; `kiln lock -f "
            "demo.json` pins them");
  EXPECT_EQ(floating_remark({}, "demo.json"), "");
  for (int number = 1; number <= 5; ++number)
    needs[fmt::format("base/many@{}:hub", number)] = {&recipe, &version, &pulled, "many"};
  EXPECT_EQ(floating_remark(needs, "demo.json"),
            "bases float without a lockfile: base/debian@13:hub, base/many@1:hub, base/many@2:hub, "
            "base/many@3:hub, base/many@4:hub and 2 more; `kiln lock -f demo.json` pins them");
}

}  // namespace
}  // namespace kiln
