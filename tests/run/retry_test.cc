// Which failures are tried again, on which terms, and what a step does of that.
#include "factory/run/retry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "factory/base/effects.h"
#include "factory/os/processors.h"
#include "factory/run/failure.h"
#include "factory/state/memory_share.h"
#include "factory/state/step_history.h"
#include "support/step_fixture.h"

namespace kiln {
namespace {

using testing::Steps;

constexpr std::uint64_t kOneGiB = 1u << 30;
const RetryRules kRules{3, 64 * kOneGiB};
const Error kNetwork(ExitCode::network, "exit status 100: a package source could not be reached");

Step step_of(StepKind kind) {
  Step step;
  step.kind = kind;
  return step;
}
const Step kRun = step_of(StepKind::run);

TEST(NextTry, ASourceThatCannotBeReachedIsAskedAgainLaterAndLater) {
  const auto wait = [](int tries, double chance) {
    return next_try(kRun, kNetwork, {}, tries, {30, 0}, chance).value().wait;
  };
  EXPECT_DOUBLE_EQ(wait(1, 0), 5);
  EXPECT_DOUBLE_EQ(wait(1, 1), 10);
  EXPECT_DOUBLE_EQ(wait(2, 1), 20);
  EXPECT_DOUBLE_EQ(wait(3, 0), 20);
  EXPECT_DOUBLE_EQ(wait(30, 1), 120);
  EXPECT_TRUE(next_try(kRun, kNetwork, {}, 3, kRules, 0));
  EXPECT_FALSE(next_try(kRun, kNetwork, {}, 4, kRules, 0)) << "three times after the first";
  EXPECT_FALSE(next_try(kRun, kNetwork, {}, 1, {0, 0}, 0));
  EXPECT_FALSE(next_try(kRun, kNetwork, {}, 1, kRules, 0)->is_alone);
}

TEST(NextTry, AMirrorHasAPackageOrNot) {
  RetryRules offline = kRules;
  offline.is_offline = true;
  EXPECT_FALSE(next_try(kRun, kNetwork, {}, 1, offline, 0));
}

TEST(NextTry, NothingElseIs) {
  for (ExitCode code : {ExitCode::images_failed, ExitCode::usage, ExitCode::input, ExitCode::tool_missing,
                        ExitCode::locked, ExitCode::store, ExitCode::timeout, ExitCode::internal})
    EXPECT_FALSE(next_try(kRun, Error(code, "x"), {}, 1, kRules, 0)) << static_cast<int>(code);
  EXPECT_FALSE(next_try(kRun, Error(ExitCode::network, "unauthorized: log in"), {}, 1, kRules, 0));
  EXPECT_TRUE(next_try(step_of(StepKind::rootfs), kNetwork, {}, 1, kRules, 0));
  EXPECT_FALSE(next_try(step_of(StepKind::pull), kNetwork, {}, 1, kRules, 0)) << "has tries of its own";
  EXPECT_FALSE(next_try(step_of(StepKind::test), kNetwork, {}, 1, kRules, 0)) << "has no network";
}

TEST(NextTry, MemoryThatRanOutIsDoubledAloneUpToAllThatThereIs) {
  const OutOfMemory error("out of memory");
  const auto first = next_try(kRun, error, {0, 24 * kOneGiB, false}, 1, kRules, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->memory, 48 * kOneGiB);
  EXPECT_TRUE(first->is_alone);
  EXPECT_EQ(first->wait, 0);
  const auto second = next_try(kRun, error, *first, 2, kRules, 0);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->memory, 64 * kOneGiB);
  EXPECT_FALSE(next_try(kRun, error, *second, 3, kRules, 0)) << "it had all that there is";
  EXPECT_FALSE(next_try(kRun, error, {0, kOneGiB, false}, 4, kRules, 0));
  EXPECT_TRUE(next_try(step_of(StepKind::test), error, {0, kOneGiB, false}, 1, kRules, 0));
}

TEST(NextTry, IsSaidAsItIs) {
  EXPECT_EQ(text_of({12.6, 0, false}, 2, kRules), "try 2 of 4 in 13 s");
  EXPECT_EQ(text_of({0, 8 * kOneGiB, true}, 3, kRules), "try 3 of 4, alone, with at most 8.0 GiB of memory");
  EXPECT_EQ(text_of({0, 8 * kOneGiB, true}, 3, {3, 64 * kOneGiB, true}),
            "try 3 of 4, with at most 8.0 GiB of memory");
}

TEST(NextTry, WithoutALimitAnotherTryIsAloneAndThereIsOneOnly) {
  const OutOfMemory error("out of memory");
  const auto first = next_try(kRun, error, {}, 1, kRules, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->memory, 0u);
  EXPECT_TRUE(first->is_alone);
  EXPECT_FALSE(next_try(kRun, error, *first, 2, kRules, 0));
}

// Of a step, by a script in place of the engine's.
class Tries : public Steps {
 protected:
  std::string script_step() { return add(StepKind::run, add_base()).key; }
  StepOutcome run_again(const std::string& key, std::function<void(std::chrono::milliseconds)> wait = {}) {
    StepSetup setup{site, state, files, runner, clock, environment, {{"framework/thing", folder / "recipe"}},
                    {}};
    setup.tell = [&](bool waits, const std::string& what) {
      told.push_back((waits ? "waits: " : "") + what);
    };
    setup.wait = wait ? std::move(wait) : [&](std::chrono::milliseconds time) { waited.push_back(time); };
    return run_step(steps.at(key), setup, engine);
  }
  std::vector<PastRun> history() const { return read_history(state.history()); }
  static CommandResult out_of_memory(std::uint64_t limit) {
    CommandResult result{CommandEnd::out_of_memory, 9, "", "", 1};
    result.memory = {limit, limit, MemorySource::cgroup1};
    return result;
  }
  std::vector<std::string> told;
  std::vector<std::chrono::milliseconds> waited;
};

TEST_F(Tries, OneThatPassesIsDone) {
  const std::string key = script_step();
  int runs = 0;
  engine.script = [&](const fs::path& root, const ContainerRun& request) {
    EXPECT_FALSE(fs::exists(root / "left")) << "in a container of its own";
    std::ofstream(root / "left") << "x";
    std::ofstream(request.log, std::ios::app) << "run " << ++runs << '\n';
    return runs < 3 ? CommandResult{CommandEnd::exited, 100, "", "Could not resolve host: x", 1}
                    : CommandResult{};
  };
  EXPECT_EQ(run_again(key), StepOutcome::done);
  EXPECT_EQ(runs, 3);
  ASSERT_EQ(waited.size(), 2u);
  EXPECT_GE(waited[1].count(), 10'000);
  EXPECT_FALSE(files.exists(state.failure(key)));
  const std::string log = files.read(state.log(key)).value();
  EXPECT_NE(log.find("run 1\n\nkiln: exit status 100: a package source could not be reached; try 2 of 4 in "),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("run 3\n"), std::string::npos);
  const auto past = history();
  ASSERT_EQ(past.size(), 3u);
  EXPECT_EQ(past[0].end, PastRun::End::failed);
  EXPECT_EQ(past[2].end, PastRun::End::done);
  EXPECT_EQ(told.at(1), "try 2 of 4");
}

TEST_F(Tries, OneThatDoesNotPassSaysEach) {
  const std::string key = script_step();
  engine.script = [&](const fs::path&, const ContainerRun&) {
    return CommandResult{CommandEnd::exited, 100, "", "Could not resolve host: x", 1};
  };
  site.step_retries = 2;
  EXPECT_EQ(run_again(key), StepOutcome::failed);
  EXPECT_EQ(engine.runs.size(), 3u);
  const FailureRecord record = failure(key);
  EXPECT_EQ(record.what, "exit status 100: a package source could not be reached; tried 3 times");
  ASSERT_EQ(record.tries.size(), 2u);
  EXPECT_NE(record.tries[1].find("; try 3 of 3 in "), std::string::npos);
  EXPECT_EQ(record.exit_code, ExitCode::network);
}

TEST_F(Tries, AScriptThatFailsIsRunOnce) {
  const std::string key = script_step();
  engine.script = [&](const fs::path&, const ContainerRun&) {
    return CommandResult{CommandEnd::exited, 1, "", "error: expected ';'", 1};
  };
  EXPECT_EQ(run_again(key), StepOutcome::failed);
  EXPECT_EQ(engine.runs.size(), 1u);
  EXPECT_TRUE(failure(key).tries.empty());
  EXPECT_EQ(failure(key).what, "exit status 1: error: expected ';'");
}

TEST_F(Tries, MemoryThatRanOutIsDoubledAndKnownTheNextTime) {
  site.step_limits.memory = 64 << 20;
  const std::string key = script_step();
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    if (request.limits.memory < (200u << 20)) return out_of_memory(request.limits.memory);
    CommandResult result;
    result.memory = {150 << 20, 0, MemorySource::processes};
    return result;
  };
  EXPECT_EQ(run_again(key), StepOutcome::done);
  ASSERT_EQ(engine.runs.size(), 3u);
  EXPECT_EQ(engine.runs[1].limits.memory, 128u << 20);
  EXPECT_EQ(
      told.at(0),
      "waits: out of memory: it needs more than its limit of 64 MiB; try 2 of 4, alone, with at most 128 MiB "
      "of memory");
  EXPECT_TRUE(waited.at(0).count() == 0);
  EXPECT_EQ(history().at(0).end, PastRun::End::out_of_memory);
  EXPECT_EQ(history().at(2).memory.peak, 150u << 20);
  fs::remove(state.step(key));
  EXPECT_EQ(run_again(key), StepOutcome::done);
  EXPECT_EQ(engine.runs.size(), 4u) << "what it needed is known";
}

TEST_F(Tries, AComponentMayHaveLimitsOfItsOwn) {
  site.step_limits.memory = 64 << 20;
  OwnLimits& own = site.component_limits["framework/thing"];
  own.memory = 300 << 20;
  own.wall = std::chrono::hours(12);
  EXPECT_EQ(run_again(script_step()), StepOutcome::done);
  EXPECT_EQ(engine.runs.at(0).limits.memory, 300u << 20);
  EXPECT_EQ(engine.runs.at(0).limits.wall, std::chrono::hours(12));
  EXPECT_EQ(engine.runs.at(0).environment.at("KILN_JOBS"), "1") << "a compiler has 2 GiB";
}

TEST_F(Tries, ARecipeMayAskForMoreThanTheSiteGivesToAll) {
  site.step_limits.memory = 64 << 20;
  const std::string key = script_step();
  steps.at(key).limits = {std::chrono::hours(12), std::chrono::seconds(1), {}, 300 << 20};
  EXPECT_EQ(run_again(key), StepOutcome::done);
  EXPECT_EQ(engine.runs.at(0).limits.memory, 300u << 20);
  EXPECT_EQ(engine.runs.at(0).limits.wall, std::chrono::hours(12));
  EXPECT_EQ(engine.runs.at(0).limits.silence, site.step_limits.silence) << "less is nobody's need";
}

TEST_F(Tries, AStepWaitsForItsShareOfTheMachine) {
  const std::string key = script_step();
  std::optional<MemoryShare> all(std::in_place, state.memory(host_name()), 1ull << 50, 1ull << 50,
                                 [](const std::string&) {});
  std::atomic<bool> waits = false;
  engine.script = [&](const fs::path&, const ContainerRun&) { return CommandResult{}; };
  std::thread frees([&] {
    while (!waits) ::usleep(1000);
    all.reset();
  });
  StepSetup setup{site, state, files, runner, clock, environment, {{"framework/thing", folder / "recipe"}},
                  {}};
  setup.tell = [&](bool for_what, const std::string& what) {
    told.push_back(what);
    waits = waits || for_what;
  };
  EXPECT_EQ(run_step(steps.at(key), setup, engine), StepOutcome::done);
  frees.join();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].find("needs "), 0u) << told[0];
  EXPECT_EQ(told[1], "");
}

TEST_F(Tries, WhereASchedulerGivesMemoryNoStepWaits) {
  const std::string key = script_step();
  const MemoryShare all(state.memory(host_name()), 1ull << 50, 1ull << 50, [](const std::string&) {});
  site.launcher.words = {"srun"};
  EXPECT_EQ(run_again(key), StepOutcome::done);
  EXPECT_TRUE(told.empty());
}

TEST(OutOfMemoryText, SaysWhoseLimitItWas) {
  CommandResult result{CommandEnd::out_of_memory, 9, "", "", 1};
  result.memory = {90 << 20, 100 << 20, MemorySource::cgroup2};
  CommandLimits limits;
  limits.memory = 100 << 20;
  EXPECT_EQ(describe_end(result, limits), "out of memory: it needs more than its limit of 100 MiB");
  limits.memory = 10 * kOneGiB;
  EXPECT_EQ(describe_end(result, limits),
            "out of memory: the kernel killed a program of it; it had 100 MiB, and the machine no more");
  EXPECT_THROW(check_script(result, limits), OutOfMemory);
  CommandResult killed{CommandEnd::signalled, 9, "", "", 1};
  EXPECT_EQ(describe_end(killed, limits), "killed by signal 9 (out of memory?)");
  killed.memory.source = MemorySource::cgroup1;
  EXPECT_EQ(describe_end(killed, limits), "killed by signal 9") << "the group would have counted it";
}

}  // namespace
}  // namespace kiln
