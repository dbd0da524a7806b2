#include "factory/app/night_watch.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;
constexpr std::int64_t kDay = 86'400;

PastNight past(std::int64_t started, NightState state = NightState::green) {
  PastNight night;
  night.number = 7;
  night.started = started;
  night.ended = started + 3600;
  night.state = state;
  return night;
}

NightWatch watch_of(std::vector<PastNight> nights) {
  NightWatch watch;
  watch.nights = std::move(nights);
  watch.now = kNow;
  return watch;
}

LeaseHolder lease_of(const std::string& process, std::int64_t silence = 1) {
  return {"kiln nightly of demo by " + process + " since 2023-11-14T22:13:19Z",
          std::chrono::seconds(silence)};
}

TEST(NightWatch, AllIsWell) {
  EXPECT_EQ(trouble_of(watch_of({past(kNow - kDay)}), {}), "");
  EXPECT_EQ(trouble_of(watch_of({}), {}), "no night has ended yet");
  EXPECT_EQ(trouble_of(watch_of({past(kNow - 60, NightState::held)}), {}), "the last night was held");
}

TEST(NightWatch, ANightThatBeganAndHoldsNoLeaseWasKilled) {
  NightWatch watch = watch_of({past(kNow - kDay)});
  watch.begun = NightBegun{8, kNow - 60, "process 12 on nid001 since 2023-11-14T22:13:20Z"};
  EXPECT_EQ(trouble_of(watch, {}),
            "night 8 was killed: it began at 2023-11-14T22:12:20Z, and process 12 on nid001 since "
            "2023-11-14T22:13:20Z is gone");
  watch.holder = lease_of("process 12 on nid001");
  EXPECT_EQ(trouble_of(watch, {}), "") << "it runs";
  watch.holder = lease_of("process 112 on nid001");
  EXPECT_NE(trouble_of(watch, {}), "") << "the night of another matrix runs";
  watch.holder = lease_of("process 12 on nid001", 601);
  EXPECT_NE(trouble_of(watch, {}), "") << "no sign of life for longer than a lease is good";
}

TEST(NightWatch, TheFirstNightThatWasKilledIsTold) {
  NightWatch watch = watch_of({});
  watch.begun = NightBegun{1, kNow - 60, "process 12 on nid001 since 2023-11-14T22:13:20Z"};
  EXPECT_TRUE(trouble_of(watch, {}).starts_with("night 1 was killed"));
  watch.holder = lease_of("process 12 on nid001");
  EXPECT_EQ(trouble_of(watch, {}), "no night has ended yet");
}

TEST(NightWatch, ANightInTheFutureIsAWrongClock) {
  EXPECT_EQ(trouble_of(watch_of({past(kNow + kDay)}), {}),
            "night 7 lies in the future: it began at 2023-11-15T22:13:20Z, and it is 2023-11-14T22:13:20Z; a "
            "clock is wrong");
  EXPECT_EQ(trouble_of(watch_of({past(kNow + 300)}), {}), "") << "two machines";
  EXPECT_NE(trouble_of(watch_of({past(kNow + 301)}), {}), "");
}

TEST(NightWatch, OverdueIsOneAndAHalfPeriods) {
  EXPECT_EQ(trouble_of(watch_of({past(kNow - kDay * 3 / 2)}), {}), "");
  EXPECT_TRUE(trouble_of(watch_of({past(kNow - kDay * 3 / 2 - 1)}), {}).starts_with("overdue"));
  NightSettings unknown;
  unknown.every = std::chrono::seconds(0);
  EXPECT_EQ(trouble_of(watch_of({past(kNow - 100 * kDay)}), unknown), "");
}

// A machine that watches need not have the site file of the one that runs the nights.
TEST(NightWatch, ThePeriodIsThatOfTheNightWhereNoSiteFileSaysIt) {
  PastNight weekly = past(kNow - 5 * kDay);
  weekly.every = 7 * kDay;
  EXPECT_EQ(trouble_of(watch_of({weekly}), {}), "");
  PastNight hourly = past(kNow - 2 * 3600);
  hourly.every = 3600;
  EXPECT_TRUE(trouble_of(watch_of({hourly}), {}).starts_with("overdue"));
  NightSettings daily;
  daily.has_every = true;
  EXPECT_EQ(trouble_of(watch_of({hourly}), daily), "");
}

TEST(NightWatch, ANightThatRunsForTooLongIsToldAndIsNotOverdueBefore) {
  NightWatch watch = watch_of({past(kNow - 2 * kDay)});
  watch.begun = NightBegun{8, kNow - kDay, "process 12 on nid001"};
  watch.holder = lease_of("process 12 on nid001");
  EXPECT_EQ(trouble_of(watch, {}), "");
  watch.begun->started = kNow - 2 * kDay;
  EXPECT_TRUE(trouble_of(watch, {}).starts_with("night 8 runs for too long"));
}

TEST(NightWatch, ANightRunsForTooLongByItsPeriodAlone) {
  NightWatch watch = watch_of({});
  watch.begun = NightBegun{8, kNow - 2, "process 12 on nid001"};
  watch.holder = lease_of("process 12 on nid001");
  NightSettings settings;
  settings.has_every = true;
  settings.every = std::chrono::seconds(1);
  EXPECT_TRUE(trouble_of(watch, settings).starts_with("night 8 runs for too long"));
  watch.begun->started = kNow - 100 * kDay;
  settings.every = std::chrono::seconds(0);
  EXPECT_EQ(trouble_of(watch, settings), "no night has ended yet") << "its period is unknown";
}

TEST(NightWatch, ADamagedReportIsTold) {
  NightWatch watch = watch_of({past(kNow - 60)});
  watch.damaged = {"night.json:1:2: bad"};
  EXPECT_EQ(trouble_of(watch, {}), "a report cannot be read: night.json:1:2: bad");
  watch.nights.clear();
  EXPECT_EQ(trouble_of(watch, {}), "night.json:1:2: bad");
}

}  // namespace
}  // namespace kiln
