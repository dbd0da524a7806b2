#include "factory/oci/registry_call.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

TEST(RetryAfter, IsSecondsOrADate) {
  EXPECT_EQ(seconds_until("", 0), std::nullopt);
  EXPECT_EQ(seconds_until("120", 0), 120.0);
  EXPECT_EQ(seconds_until("1.5", 0), 1.5);
  constexpr std::int64_t kDate = 784111777;  // RFC 9110's own, in its three forms
  for (const char* date :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(seconds_until(date, kDate - 30), 30.0) << date;
    EXPECT_EQ(seconds_until(date, kDate + 30), 0.0) << date << ": it is over";
  }
}

TEST(RetryAfter, IsNoneWhereItIsNoTime) {
  for (const char* text : {"soon", "-5", "+5", " 5", "5s", "1.2.3", ".", "inf", "nan", "0x10", "1e9",
                           "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 GMT and more"})
    EXPECT_EQ(seconds_until(text, 0), std::nullopt) << text;
}

TEST(Backoff, Doubles) {
  for (int tries = 1; tries < 10; ++tries) {
    const double longest = std::min(30.0, static_cast<double>(1 << (tries - 1)));
    EXPECT_LE(backoff(tries), longest);
    EXPECT_GE(backoff(tries), longest / 2);
  }
}

std::string fatal(const std::string& text) {
  return "time=\"2026-11-20T14:00:00Z\" level=debug msg=\"GET http://x/v2/\"\n"
         "time=\"2026-11-20T14:00:00Z\" level=fatal msg=\"" +
         text + "\"\n";
}

CommandResult failed(const std::string& text) { return {CommandEnd::exited, 1, "", fatal(text), 0}; }

std::string busy(const std::string& retry_after) {
  return "time=\"2026-11-20T14:00:00Z\" level=debug msg=\"Detected 'Retry-After' header \\\"" + retry_after +
         "\\\"\"\n"
         "time=\"2026-11-20T14:00:00Z\" level=debug msg=\"Too many requests to http://x/v2/y/manifests/1: "
         "sleeping for 60.000000 seconds before next attempt\"\n";
}

// A registry whose answers are given in order; the last one for all that follow. Time passes while it is
// waited for, and not else.
struct RegistryCalls : ::testing::Test {
  RegistryCalls() {
    runner.respond = [this](const Command& command) {
      const auto& answer = answers.at(std::min(runner.commands.size(), answers.size()) - 1);
      return answer(command);
    };
  }

  using Answer = std::function<CommandResult(const Command&)>;
  static Answer says(CommandResult result) {
    return [result](const Command&) { return result; };
  }
  // As run_process does: it is asked from time to time, here once a second.
  Answer hangs(const std::string& said = "", const std::function<void(int second)>& meanwhile = {}) {
    return [this, said, meanwhile](const Command& command) {
      for (int second = 0; second < 10000; ++second) {
        if (command.give_up(said)) return CommandResult{CommandEnd::given_up, 15, "", said, 0};
        ++clock.now;
        if (meanwhile) meanwhile(second);
      }
      return CommandResult{};
    };
  }

  CommandResult ask() {
    return ask_registry(
        {{"copy", "docker://x/y:1"}, "cannot pull x/y:1", "x/y:1", folder / "l", folder / "log"}, skopeo);
  }
  std::string refused() {
    try {
      ask();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::network);
      EXPECT_EQ(error.hint(), "try again later; the limits of pulls are in the site file (\"pull\")");
      return error.message();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }

  testing::TemporaryFolder folder;
  testing::FakeCommandRunner runner;
  testing::FakeClock clock;
  std::vector<Answer> answers;
  std::vector<std::int64_t> waits;  // milliseconds
  std::vector<PullState> told;
  Skopeo skopeo{runner,
                clock,
                {},
                {std::chrono::seconds(1000), std::chrono::seconds(60), 3},
                [this](const PullState& state) { told.push_back(state); },
                [this](std::chrono::milliseconds time) {
                  waits.push_back(time.count());
                  clock.now += (time.count() + 999) / 1000;
                }};
};

TEST_F(RegistryCalls, WhatPassesIsTriedAgain) {
  for (const char* passing :
       {"reading manifest 1 in x/y: received unexpected HTTP status: 500 Internal Server Error",
        "reading manifest 1 in x/y: received unexpected HTTP status: 503 Service Unavailable",
        "writing blob: invalid status code from registry 502 (Bad Gateway)",
        "writing blob: storing blob to file: read tcp 10.0.0.1:2->10.0.0.2:5000: read: connection reset by "
        "peer",
        "writing blob: storing blob to file: unexpected EOF", "pinging container registry x: Get: EOF",
        "pinging container registry x: dial tcp 10.0.0.2:5000: connect: connection refused",
        "dial tcp: lookup x on 10.0.0.1:53: server misbehaving",
        "dial tcp: lookup x: Temporary failure in name resolution"}) {
    runner.commands.clear();
    waits.clear();
    answers = {says(failed(passing)), says(failed(passing)), says({})};
    EXPECT_TRUE(ask().ok()) << passing;
    EXPECT_EQ(runner.commands.size(), 3u) << passing;
    ASSERT_EQ(waits.size(), 2u);
    EXPECT_TRUE(waits[0] >= 500 && waits[0] <= 1001) << waits[0];
    EXPECT_TRUE(waits[1] >= 1000 && waits[1] <= 2001) << waits[1];
  }
}

TEST_F(RegistryCalls, WhatStaysIsNot) {
  for (const char* final :
       {"reading manifest 1 in x/y: manifest unknown", "unauthorized: authentication required",
        "received unexpected HTTP status: 403 Forbidden", "lookup x: no such host",
        "open /500/x: permission denied"}) {
    runner.commands.clear();
    answers = {says(failed(final))};
    CommandResult result = ask();
    EXPECT_EQ(runner.commands.size(), 1u) << final;
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.tail.find("level=debug"), std::string::npos) << "what skopeo does is not why it failed";
  }
  EXPECT_TRUE(waits.empty());
}

TEST_F(RegistryCalls, TheEndSaysWhatHappenedAndHowOften) {
  answers = {says(failed("received unexpected HTTP status: 503 Service Unavailable"))};
  const std::string what = refused();
  EXPECT_TRUE(what.starts_with("cannot pull x/y:1: 503 Service Unavailable; tried 4 times in ")) << what;
  EXPECT_EQ(runner.commands.size(), 4u);
  skopeo.limits.retries = 0;
  EXPECT_NE(refused().find("; tried once in 0 s"), std::string::npos);
  EXPECT_TRUE(told.back().ended);
}

TEST_F(RegistryCalls, WhereNoByteComesItIsGivenUpAndTriedAgain) {
  answers = {hangs()};
  EXPECT_TRUE(refused().starts_with("cannot pull x/y:1: no byte came for 60 s; tried 4 times in "));
  runner.commands.clear();
  answers = {hangs(), says({})};
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(runner.commands.size(), 2u);
}

TEST_F(RegistryCalls, BytesThatComeAreNoSilenceAndEndWithTheWholePull) {
  const std::string blob = "l/oci-put-blob1";
  answers = {hangs("", [&](int second) { folder.write(blob, std::string(second, 'x')); })};
  EXPECT_TRUE(refused().starts_with("cannot pull x/y:1: not done after 1000 s; tried once in 1001 s"));
  ASSERT_GT(told.size(), 100u);
  EXPECT_GT(told[50].bytes, told[40].bytes);
  EXPECT_GT(told[50].rate, 0);
  EXPECT_EQ(text_of({"x", 12'345'678, 4.5e6, "", false}), "12.3 MB, 4.5 MB/s");
}

TEST_F(RegistryCalls, ATryBeginsWithTheBlobsThatAreWhole) {
  answers = {[&](const Command&) {
               folder.write("l/oci-put-blob123", "half");
               folder.write("l/blobs/sha256/abc", "whole");
               return failed("unexpected EOF");
             },
             [&](const Command&) {
               EXPECT_FALSE(fs::exists(folder / "l/oci-put-blob123"));
               EXPECT_TRUE(fs::exists(folder / "l/blobs/sha256/abc"));
               return CommandResult{};
             }};
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(runner.commands.size(), 2u);
}

TEST_F(RegistryCalls, ARetryAfterIsHonouredUpToABound) {
  answers = {hangs(busy("7")), says({})};
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(waits, (std::vector<std::int64_t>{7000}));
  EXPECT_EQ(told.at(told.size() - 2).waits, "429 Too Many Requests; try 2 of 4 in 7.0 s");
  EXPECT_NE(folder.read("log").find("kiln: 429 Too Many Requests; try 2 of 4 in 7.0 s\n"), std::string::npos);
  EXPECT_EQ(folder.read("log").find("level=debug"), std::string::npos);

  runner.commands.clear();
  answers = {hangs(busy("36000"))};
  EXPECT_EQ(refused(),
            "cannot pull x/y:1: 429 Too Many Requests, and it asks kiln to wait 36000 s (Retry-After), "
            "longer than the 300 s that kiln waits; tried once in 0 s");
  EXPECT_EQ(runner.commands.size(), 1u);
}

TEST_F(RegistryCalls, NoWaitIsLongerThanThePull) {
  skopeo.limits.wall = std::chrono::seconds(5);
  answers = {hangs(busy("20"))};
  EXPECT_EQ(refused(),
            "cannot pull x/y:1: 429 Too Many Requests; the next try, in 20.0 s, would be after the 5 s "
            "that a pull may take; tried once in 0 s");
  EXPECT_TRUE(waits.empty());
}

TEST_F(RegistryCalls, AnInterruptIsOne) {
  answers = {says({CommandEnd::interrupted, 2, "", "", 0})};
  try {
    ask();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::interrupted);
  }
}

TEST_F(RegistryCalls, ZeroIsNoLimit) {
  skopeo.limits = {std::chrono::seconds(0), std::chrono::seconds(0), 0};
  answers = {hangs()};
  EXPECT_TRUE(ask().ok()) << "it came to its end, after 10,000 s";
}

TEST(TooManyRequests, KnowsSecondsAndDates) {
  EXPECT_FALSE(too_many_requests(fatal("429 Too Many Requests"), 0));
  EXPECT_EQ(too_many_requests(busy("120"), 0)->retry_after, 120);
  EXPECT_EQ(too_many_requests(busy("Fri, 20 Nov 2026 14:01:00 GMT"), 1795183200)->retry_after, 60);
  EXPECT_EQ(too_many_requests(busy("Fri, 20 Nov 2020 14:01:00 GMT"), 1795183200)->retry_after, 0);
  EXPECT_EQ(too_many_requests(busy("soon"), 0)->retry_after, std::nullopt) << "kiln waits as it sees fit";
}

}  // namespace

}  // namespace kiln
