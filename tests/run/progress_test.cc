#include "factory/run/progress.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::FakeClock;
using testing::TemporaryFolder;

struct Screen {
  std::string text;
  Progress::Write write() {
    return [this](const std::string& more) { text += more; };
  }
};

TEST(Progress, PlainLinesSayStartAndEnd) {
  FakeClock clock;
  Screen screen;
  Progress progress(ProgressStyle::plain, clock, screen.write(), false);
  progress.begin(2);
  progress.event({StepEvent::State::started, "k1", "debian trixie", 0, "", ""});
  progress.event({StepEvent::State::done, "k1", "debian trixie", 13.25, "", ""});
  progress.event({StepEvent::State::failed, "k2", "hello 2.1", 1, "exit status 3", "/no/such/log"});
  EXPECT_EQ(screen.text,
            "start  debian trixie\n"
            "done   debian trixie  13.2 s\n"
            "FAILED hello 2.1  1.0 s  exit status 3\n");
}

// A log's last lines are noise, as a rule: what they are about comes behind them once more.
TEST(Progress, TheLinesOfAFailedStepsLogEndWithWhy) {
  FakeClock clock;
  Screen screen;
  TemporaryFolder folder;
  std::string log;
  for (int i = 1; i <= 45; ++i) log += "line " + std::to_string(i) + "\n";
  folder.write("log", log);
  Progress progress(ProgressStyle::plain, clock, screen.write(), false);
  progress.begin(1);
  progress.event(
      {StepEvent::State::failed, "k", "hello 2.1", 1, "exit status 3: boom", (folder / "log").string()});
  EXPECT_EQ(screen.text.find("line 5\n"), std::string::npos);
  EXPECT_NE(screen.text.find("line 6\n"), std::string::npos);
  EXPECT_TRUE(screen.text.ends_with("line 45\n--- hello 2.1: exit status 3: boom\n")) << screen.text;
}

TEST(Progress, WhatIsFetchedBeforehandIsNoneOfThoseToRun) {
  FakeClock clock;
  Screen screen;
  Progress progress(ProgressStyle::tty, clock, screen.write(), false);
  progress.event(
      {StepEvent::State::fetched, "k1", "debian trixie", 2, "registry.site/steps, made on nid001", ""});
  EXPECT_EQ(screen.text, "fetched debian trixie  2.0 s  registry.site/steps, made on nid001\n");
  progress.begin(1);
  screen.text.clear();
  progress.tick();
  EXPECT_NE(screen.text.find("[0/1]"), std::string::npos) << screen.text;
  progress.event({StepEvent::State::started, "k2", "hello 2.1", 0, "", ""});
  progress.event({StepEvent::State::fetched, "k2", "hello 2.1", 1, "registry.site/steps", ""});
  screen.text.clear();
  progress.tick();
  EXPECT_NE(screen.text.find("[1/1]"), std::string::npos) << screen.text;
}

TEST(Progress, HowFarAStepIsStandsInItsStatusAndOnALineEachTenSeconds) {
  auto shown = [](ProgressStyle style) {
    FakeClock clock;
    Screen screen;
    Progress progress(style, clock, screen.write(), false);
    progress.begin(1);
    progress.event({StepEvent::State::running, "other", "not started", 0, "1 MB", ""});
    progress.event({StepEvent::State::started, "k1", "debian trixie", 0, "", ""});
    for (int i = 0; i < 5; ++i) {
      clock.now += 5;
      progress.event({StepEvent::State::running, "k1", "debian trixie", 0, std::to_string(i) + " MB", ""});
    }
    progress.tick();
    return screen.text;
  };
  EXPECT_EQ(shown(ProgressStyle::plain),
            "start  debian trixie\n"
            "       debian trixie: 1 MB\n"
            "       debian trixie: 3 MB\n");
  EXPECT_EQ(shown(ProgressStyle::tty), "\r\033[K[0/1]  debian trixie 25s (4 MB)");
}

TEST(Progress, WhatWaitsAndForWhatStandsBehindWhatRuns) {
  auto shown = [](ProgressStyle style) {
    FakeClock clock;
    Screen screen;
    Progress progress(style, clock, screen.write(), false);
    progress.begin(2);
    progress.event({StepEvent::State::waiting, "a", "first", 0, "process 12 runs it", ""});
    progress.event({StepEvent::State::started, "b", "second", 0, "", ""});
    clock.now += 5;
    progress.event({StepEvent::State::waiting, "a", "first", 0, "needs 4.0 GiB", ""});
    progress.tick();
    progress.event({StepEvent::State::running, "a", "first", 0, "", ""});
    clock.now += 2;
    progress.tick();
    return screen.text;
  };
  EXPECT_EQ(shown(ProgressStyle::plain),
            "wait   first: process 12 runs it\n"
            "start  second\n"
            "resume first\n");
  EXPECT_EQ(shown(ProgressStyle::tty),
            "\r\033[K[0/2]  second 5s  first waits (needs 4.0 GiB)"
            "\r\033[K[0/2]  first 2s  second 7s");
}

TEST(Progress, HowLongItStillTakesIsSaidEachMinute) {
  auto shown = [](ProgressStyle style) {
    FakeClock clock;
    Screen screen;
    Progress progress(style, clock, screen.write(), false);
    progress.begin(2, Forecast({{"a", {}, 100, 10}, {"b", {0}, 200, 0}}, 1));
    progress.event({StepEvent::State::started, "a", "first", 0, "", ""});
    for (int i = 0; i < 7; ++i) {
      clock.now += 10;
      progress.tick();
    }
    return screen.text;
  };
  EXPECT_EQ(shown(ProgressStyle::plain),
            "[0/2] about 5 min, give or take 10 s\n"
            "start  first\n"
            "[0/2] about 4 min, give or take 10 s\n");
  const std::string tty = shown(ProgressStyle::tty);
  EXPECT_EQ(tty.substr(tty.rfind('\r')), "\r\033[K[0/2] about 4 min, give or take 10 s  first 70s");
  EXPECT_EQ(shown(ProgressStyle::json).find(R"({"error":10.0,"event":"forecast","seconds_left":300.0})"),
            std::string(R"({"event":"plan","steps":2})").size() + 1);
}

// Shown by a step that is made for zen3 and has written these lines by now.
std::string shown_with_log(ProgressStyle style, const std::string& log) {
  FakeClock clock;
  Screen screen;
  Progress progress(style, clock, screen.write(), false);
  progress.begin(1, {}, {{{"k", "zen3 and 2 more"}}, [&](const std::string&) { return last_line_of(log); }});
  progress.event({StepEvent::State::started, "k", "openblas 0.3.29 (source)", 0, "", ""});
  for (int i = 0; i < 13; ++i) {
    clock.now += 10;
    progress.tick();
  }
  progress.event({StepEvent::State::done, "k", "openblas 0.3.29 (source)", 130, "", ""});
  return screen.text;
}

TEST(Progress, TheTargetAndTheLastLineOfTheLogAreShown) {
  const std::string log = "configured\n[ 44%] one\n[ 45%] two\n\n";
  EXPECT_EQ(shown_with_log(ProgressStyle::plain, log),
            "start  openblas 0.3.29 (source) for zen3 and 2 more\n"
            "       openblas 0.3.29 (source) for zen3 and 2 more 60s: [ 45%] two\n"
            "       openblas 0.3.29 (source) for zen3 and 2 more 120s: [ 45%] two\n"
            "done   openblas 0.3.29 (source) for zen3 and 2 more  130.0 s\n");
  EXPECT_NE(shown_with_log(ProgressStyle::tty, log)
                .find("\r\033[K[0/1]  openblas 0.3.29 (source) for zen3 and 2 more 20s: [ 45%] two"),
            std::string::npos);
  const std::string json = shown_with_log(ProgressStyle::json, log);
  EXPECT_NE(json.find(R"("line":"[ 45%] two")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("target":"zen3 and 2 more")"), std::string::npos) << json;
}

// What a terminal obeys stays in the log, and a long line leaves the status on one line.
TEST(Progress, ALineOfALogDoesNotBreakTheStatus) {
  const std::string hostile = "\033[2J" + std::string(300, 'x') + "\xc3\xa4";
  const std::string tty = shown_with_log(ProgressStyle::tty, hostile);
  EXPECT_EQ(tty.find("\033[2J"), std::string::npos);
  const std::size_t last = tty.rfind("\r\033[K[");
  EXPECT_LE(tty.find('\r', last + 1) - last - 4, 120u);
  EXPECT_EQ(shown_with_log(ProgressStyle::plain, ""),
            "start  openblas 0.3.29 (source) for zen3 and 2 more\n"
            "done   openblas 0.3.29 (source) for zen3 and 2 more  130.0 s\n");
}

TEST(LastLine, IsWhatWasWrittenLast) {
  EXPECT_EQ(last_line_of("one\ntwo\n\n  \n"), "two");
  EXPECT_EQ(last_line_of("get 1 %\rget 50 %\r"), "get 50 %");
  EXPECT_EQ(last_line_of("  three"), "three");
  EXPECT_EQ(last_line_of(" \n\r\n"), "");
  EXPECT_EQ(last_line_of(""), "");
}

TEST(Progress, JsonIsOneEventALine) {
  FakeClock clock;
  Screen screen;
  Progress progress(ProgressStyle::json, clock, screen.write(), false);
  progress.begin(1);
  progress.event({StepEvent::State::done, "k1", "a \"quoted\" title\n", 1.5, "", "/log"});
  progress.note("careful");
  std::istringstream lines(screen.text);
  std::vector<Json> events;
  for (std::string line; std::getline(lines, line);) events.push_back(Json::parse(line));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0], (Json{{"event", "plan"}, {"steps", 1}}));
  EXPECT_EQ(events[1]["state"], "done");
  EXPECT_EQ(events[1]["title"], "a \"quoted\" title\n");
  EXPECT_EQ(events[2]["event"], "note");
}

TEST(Progress, TheStatusLineIsRedrawnAndCleared) {
  FakeClock clock;
  Screen screen;
  Progress progress(ProgressStyle::tty, clock, screen.write(), false);
  progress.begin(3);
  progress.event({StepEvent::State::started, "k1", "debian trixie", 0, "", ""});
  clock.now += 5;
  progress.tick();
  EXPECT_EQ(screen.text, "\r\033[K[0/3]  debian trixie 5s");
  progress.event({StepEvent::State::done, "k1", "debian trixie", 5, "", ""});
  EXPECT_TRUE(screen.text.ends_with("\r\033[Kdone   debian trixie  5.0 s\n")) << screen.text;
}

TEST(Progress, NoneIsSilent) {
  FakeClock clock;
  Screen screen;
  Progress progress(ProgressStyle::none, clock, screen.write(), true);
  progress.begin(1);
  progress.event({StepEvent::State::failed, "k", "t", 1, "exit status 1", ""});
  progress.tick();
  progress.finish();
  EXPECT_EQ(screen.text, "");
}

TEST(Progress, AFailureShowsTheLastFortyLinesOfItsLog) {
  FakeClock clock;
  Screen screen;
  TemporaryFolder folder;
  std::string text;
  for (int i = 1; i <= 100; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string log = folder.write("log", text).string();
  Progress progress(ProgressStyle::plain, clock, screen.write(), false);
  progress.event({StepEvent::State::failed, "k", "t", 1, "exit status 1", log});
  EXPECT_EQ(screen.text.find("line 60\n"), std::string::npos);
  EXPECT_NE(screen.text.find("line 61\n"), std::string::npos);
  EXPECT_NE(screen.text.find("line 100\n"), std::string::npos);
}

TEST(Progress, StylesByName) {
  EXPECT_EQ(progress_style("auto", true), ProgressStyle::tty);
  EXPECT_EQ(progress_style("auto", false), ProgressStyle::plain);
  EXPECT_EQ(progress_style("json", true), ProgressStyle::json);
  EXPECT_THROW(progress_style("loud", true), Error);
}

TEST(StepEvent, RoundTripsThroughALine) {
  StepEvent event{StepEvent::State::failed, "abc", "pytorch 2.6.0", 2.5, "exit status 1", "/log"};
  auto read = step_event_from_line(to_json(event).dump());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->state, StepEvent::State::failed);
  EXPECT_EQ(read->title, "pytorch 2.6.0");
  EXPECT_EQ(read->seconds, 2.5);
  EXPECT_EQ(read->log, "/log");
}

TEST(StepEvent, ANoteIsALineOfItsOwn) {
  const std::string text = "a \"word\"\nand \033[31mmore";
  EXPECT_FALSE(step_event_from_line(note_line(text)));
  EXPECT_EQ(note_line(text).find('\n'), std::string::npos);
  const auto read = note_from_line(note_line(text));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->substr(0, 8), "a \"word\"");
  for (const char* other :
       {"", "text", R"({"event":"note"})", R"({"event":"note","text":3})", R"({"event":"note")"})
    EXPECT_FALSE(note_from_line(other)) << other;
}

TEST(StepEvent, OtherLinesAreNotEvents) {
  for (const char* line :
       {"", "[1/3] something", "{\"event\":\"other\"}", "{\"event\":\"step\"", "FAILED: x"})
    EXPECT_FALSE(step_event_from_line(line).has_value()) << line;
}

// What is shown of a pull that takes 25 s, with a wait in its middle.
std::string shown_of_a_pull(ProgressStyle style) {
  testing::FakeClock clock;
  std::string shown;
  auto tell = pull_teller(style, clock, [&](const std::string& text) { shown += text; });
  if (!tell) return "nothing";
  for (std::uint64_t i = 1; i <= 5; ++i) {
    clock.now += 5;
    tell({"docker://x/y:1", i * 1'000'000, 2e5, i == 3 ? "503 Service Unavailable; try 2 of 6 in 1.3 s" : "",
          false});
  }
  tell({"docker://x/y:1", 5'000'000, 0, "", true});
  return shown;
}

TEST(PullLine, IsOneEachTenSecondsAndForEachWait) {
  EXPECT_EQ(shown_of_a_pull(ProgressStyle::plain),
            "pulling docker://x/y:1: 2.0 MB, 0.2 MB/s\n"
            "pulling docker://x/y:1: 503 Service Unavailable; try 2 of 6 in 1.3 s\n"
            "pulling docker://x/y:1: 5.0 MB, 0.2 MB/s\n");
  EXPECT_EQ(shown_of_a_pull(ProgressStyle::none), "nothing");
}

TEST(PullLine, IsRewrittenOnATerminalAndGoes) {
  const std::string shown = shown_of_a_pull(ProgressStyle::tty);
  EXPECT_TRUE(shown.starts_with("\r\x1b[Kpulling docker://x/y:1: 1.0 MB, 0.2 MB/s\r\x1b[Kpulling")) << shown;
  EXPECT_TRUE(shown.ends_with("5.0 MB, 0.2 MB/s\r\x1b[K")) << shown;
  EXPECT_EQ(shown.find('\n'), std::string::npos);
}

TEST(PullLine, IsAnEventForPrograms) {
  const std::string shown = shown_of_a_pull(ProgressStyle::json);
  EXPECT_EQ(shown.substr(0, shown.find('\n')),
            R"({"bytes":2000000,"event":"pull","image":"docker://x/y:1","rate":200000.0})");
  EXPECT_NE(shown.find(R"("waits":"503 Service Unavailable; try 2 of 6 in 1.3 s"})"), std::string::npos);
}

}  // namespace
}  // namespace kiln
