#include "factory/run/build.h"

#include <gtest/gtest.h>

#include "factory/run/step_terms.h"
#include "factory/state/lock.h"
#include "support/one_image.h"

namespace kiln {
namespace {

using testing::OneImage;

StepTerms terms_of(const OneImage& one) { return read_step_terms(one.files, one.state.step_terms("one")); }

// Recipes that no image of the plan needs are not copied to where steps read theirs.
TEST(Build, OnlyTheRecipesOfThePlanAreCopied) {
  OneImage one;
  for (testing::RecipeDraft recipe :
       {testing::RecipeDraft(Kind::framework, "hello", {"2.1"}).method("distro", "echo"),
        testing::RecipeDraft(Kind::library, "other", {"1"}).method("distro", "echo")})
    one.recipes.add(recipe.get());
  one.run();
  EXPECT_TRUE(one.files.exists(one.state.recipes("one") / "framework/hello/distro.sh"));
  EXPECT_FALSE(one.files.exists(one.state.recipes("one") / "library/other/distro.sh"));
}

TEST(Build, NinjaIsNotAskedWhenEverythingIsBuilt) {
  OneImage one;
  one.make_built();
  BuildReport report = one.run();
  EXPECT_TRUE(one.runner.commands.empty());
  EXPECT_EQ(report.images.at(0).outcome, Outcome::up_to_date);
}

// `kiln gc` keeps what a plan names, and the hint for a damaged one is to remove it.
TEST(Build, AMissingPlanIsWrittenWhenEverythingIsBuilt) {
  OneImage one;
  one.make_built();
  one.run();
  const auto text = one.files.read(one.state.plan("one"));
  EXPECT_TRUE(text);
  one.files.write(one.state.plan("one"), "as it is");
  one.run();
  EXPECT_EQ(one.files.read(one.state.plan("one")), "as it is") << "100,000 cells are 400 MB to write";
}

TEST(Build, NinjaGetsTheCellsAndKeepsGoing) {
  OneImage one;
  one.runner.respond = [&](const Command&) {
    one.make_built();
    return CommandResult{};
  };
  BuildReport report = one.run();
  ASSERT_EQ(one.runner.commands.size(), 1u);
  std::vector<std::string> argv = one.runner.commands[0].argv;
  EXPECT_EQ(argv, (std::vector<std::string>{"ninja", "-C", one.state.root(), "-f", "builds/one/build.ninja",
                                            "-j", "2", "-k", "0", "--", one.image.id()}));
  EXPECT_EQ(terms_of(one).at_once, 1) << "one step waits for the other";
  EXPECT_EQ(report.images.at(0).outcome, Outcome::built);
  EXPECT_TRUE(one.files.exists(one.state.plan("one")));
}

// The image is for machines of another kind.
struct OneImageForOthers : OneImage {
  const std::string other = own_architecture() == "arm64" ? "amd64" : "arm64";

  OneImageForOthers() : OneImage(own_architecture() == "arm64" ? "amd64" : "arm64") {}
};

TEST(Build, AnImageForOtherMachinesIsSkipped) {
  OneImageForOthers one;
  BuildReport report = one.run();
  EXPECT_TRUE(one.runner.commands.empty());
  EXPECT_EQ(report.images.at(0).outcome, Outcome::skipped);
  EXPECT_EQ(report.images.at(0).reason,
            "is for " + one.other + ", and this machine is " + own_architecture());
  EXPECT_EQ(report.exit_code(), ExitCode::tool_missing) << "nothing else was asked for";
  EXPECT_EQ(to_json(report)["skipped"], 1);
  EXPECT_EQ(to_json(report)["failed"], 0);
  report.images.emplace_back().outcome = Outcome::built;
  EXPECT_EQ(report.exit_code(), ExitCode::ok);
}

TEST(Build, AnotherMachineMayHaveBuiltIt) {
  OneImageForOthers one;
  one.make_built();
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::up_to_date);
}

TEST(Build, ALauncherOrAnEmulatorStandsInForOtherMachines) {
  OneImageForOthers by_launcher;
  by_launcher.site.launcher.words = {"srun"};
  by_launcher.run();
  EXPECT_EQ(by_launcher.runner.commands.size(), 1u);
  OneImageForOthers by_emulator;
  const std::string handler =
      "/proc/sys/fs/binfmt_misc/qemu-" + std::string(by_emulator.other == "arm64" ? "aarch64" : "x86_64");
  for (auto [text, runs] : {std::pair("disabled\ninterpreter /usr/bin/q\nflags: OCF\noffset 0\n", 0u),
                            std::pair("enabled\ninterpreter /usr/bin/q\nflags: OC\noffset 0\n", 0u),
                            std::pair("enabled\ninterpreter /usr/bin/q\nflags: OCF\noffset 0\n", 1u)}) {
    by_emulator.files.emulators[handler] = text;
    by_emulator.run();
    EXPECT_EQ(by_emulator.runner.commands.size(), runs) << text;
  }
}

TEST(Emulator, SaysItsVersionWhereItsFileCanBeAsked) {
  const std::string other = own_architecture() == "arm64" ? "amd64" : "arm64";
  const std::string name = other == "arm64" ? "qemu-aarch64" : "qemu-x86_64";
  const std::string handlers = "/proc/sys/fs/binfmt_misc/";
  testing::FilesWithEmulators files;
  testing::FakeCommandRunner runner;
  runner.respond = [&](const Command&) {
    CommandResult result;
    result.output = name + " version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright (c) 2003-2022\n";
    return result;
  };
  auto emulator = [&](const std::string& architecture) {
    return emulator_of(architecture, files, runner, {});
  };
  EXPECT_EQ(emulator(other), "");
  const std::string rest = "\nflags: POCF\noffset 0\n";
  files.emulators[handlers + name] = "enabled\ninterpreter /bin/sh" + rest;
  EXPECT_EQ(emulator(other), name + " 7.2.22");
  EXPECT_EQ(runner.commands.back().argv,
            (std::vector<std::string>{fs::canonical("/bin/sh").string(), "--version"}))
      << "a link's name may mean something to it";
  EXPECT_EQ(emulator(own_architecture()), "");
  EXPECT_EQ(emulator(""), "");
  files.emulators[handlers + "status"] = "disabled\n";
  EXPECT_EQ(emulator(other), "");
  files.emulators[handlers + "status"] = "enabled\n";
  files.emulators[handlers + name] = "enabled\ninterpreter /no/such/file" + rest;
  EXPECT_EQ(emulator(other), name) << "the kernel holds it open";
  files.emulators[handlers + name] = "disabled\ninterpreter /bin/sh" + rest;
  EXPECT_EQ(emulator(other), "");
}

TEST(Build, AFailedStepIsTheReason) {
  OneImage one;
  FailureRecord failure;
  const std::vector<StepTable::Number> steps = one.image.steps();
  failure.key = one.plan.steps().hex(steps[1]);
  failure.what = "exit status 3: boom";
  failure.log = "/state/logs/x.log";
  one.runner.respond = [&](const Command&) {
    one.make_step(0);
    RecordWriter(one.state, one.files).write(failure);
    return CommandResult{CommandEnd::exited, 1, "", "", 1};
  };
  BuildReport report = one.run();
  EXPECT_EQ(report.images.at(0).outcome, Outcome::failed);
  EXPECT_EQ(report.images.at(0).reason, "hello 2.1 (distro): exit status 3: boom (build)");
  EXPECT_EQ(report.legend(),
            "(build): a script of the recipe failed, took too long or needed too much memory\n");
  EXPECT_EQ(report.images.at(0).log, "/state/logs/x.log");
}

// `kiln step` cannot say that it was killed: its claim says so.
TEST(Build, AKilledStepIsTheReason) {
  OneImage one;
  const std::string key = one.plan.steps().hex(one.image.steps()[1]);
  one.runner.respond = [&](const Command&) {
    one.die_with_claim(key);
    return CommandResult{CommandEnd::exited, 1, "", "", 1};
  };
  BuildReport report = one.run();
  EXPECT_EQ(report.images.at(0).outcome, Outcome::failed);
  EXPECT_TRUE(report.images.at(0).reason.starts_with("hello 2.1 (distro): killed: process "))
      << report.images.at(0).reason;
  EXPECT_EQ(report.images.at(0).log, one.state.log(key));
  EXPECT_EQ(report.exit_code(), ExitCode::images_failed);
  EXPECT_TRUE(one.files.exists(one.state.failure(key))) << "for `kiln plan`, too";
  one.runner.respond = [&](const Command&) {
    EXPECT_FALSE(one.files.exists(one.state.failure(key))) << "the next build forgets it";
    return CommandResult{CommandEnd::exited, 1, "", "", 1};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::not_reached);
}

TEST(Build, AStepThatDiedAfterItWasDoneIsDone) {
  OneImage one;
  const std::string key = one.plan.steps().hex(one.image.steps()[0]);
  one.runner.respond = [&](const Command&) {
    StepRecord record;
    record.key = key;
    RecordWriter(one.state, one.files).write(record);
    one.die_with_claim(key);
    return CommandResult{CommandEnd::exited, 1, "", "", 1};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::not_reached);
  EXPECT_FALSE(one.files.exists(one.state.failure(key)));
}

// --- builds of other plans in the same folder

// Another build runs the step again, and its success takes the record of the failure away.
TEST(Build, WhatAStepSaidIsTheReasonWhenAnotherBuildHasRunItSince) {
  OneImage one;
  const std::string key = one.key(1);
  one.runner.respond = [&](const Command&) {
    one.make_step(0);
    one.make_step(1);
    CommandResult result{CommandEnd::exited, 1, "", "", 1};
    result.output =
        to_json(StepEvent{StepEvent::State::failed, key, "hello 2.1 (distro)", 1, "exit status 7", "a.log"})
            .dump() +
        "\n";
    return result;
  };
  const BuildReport report = one.run();
  EXPECT_EQ(report.images.at(0).outcome, Outcome::failed);
  EXPECT_EQ(report.images.at(0).reason, "hello 2.1 (distro): exit status 7 (build)");
  EXPECT_EQ(report.images.at(0).step, key);
}

// It may be what the other is writing.
TEST(Build, NothingIsClearedAwayBesideAnotherBuild) {
  OneImage one;
  const fs::path half = one.state.root() / "steps/.a.json.12.1.tmp";
  one.files.write(half, "half");
  one.die_with_claim("a");
  {
    const BuildLock other(one.state, "other", one.clock, "kiln build of other");
    one.run();
    EXPECT_TRUE(one.files.exists(half));
  }
  one.run();
  EXPECT_FALSE(one.files.exists(half));
}

// One that is about to be locked looks like one of the dead.
TEST(Build, AClaimWithoutTextIsNoDeath) {
  OneImage one;
  one.runner.respond = [&](const Command&) {
    one.files.write(one.state.running(one.key(1)), "");
    return CommandResult{CommandEnd::exited, 1, "", "", 1};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::not_reached);
  EXPECT_FALSE(one.files.exists(one.state.failure(one.key(1))));
}

TEST(Build, ABrokenImageStaysWhileAnotherBuildPackagesIt) {
  OneImage one;
  one.make_built();
  one.files.remove_all(one.state.root() / "images");
  {
    const Claim other(one.state, one.image.key(), one.clock, [](const std::string&) {});
    one.run();
    EXPECT_TRUE(one.files.exists(one.built_file()));
  }
  one.run();
  EXPECT_FALSE(one.files.exists(one.built_file()));
}

// A launcher that got no machine, a step that could not even read its plan: ninja alone knows of them.
TEST(Build, AStepThatEndedWithoutARecordIsTheReason) {
  OneImage one;
  const std::string key = one.plan.steps().hex(one.image.steps()[1]);
  const std::string other = one.plan.steps().pattern(one.image.steps()[0]).title;
  one.site.launcher.words = {"srun"};
  one.runner.respond = [&](const Command&) {
    one.make_step(0);
    CommandResult result{CommandEnd::exited, 1, "", "", 1};
    result.output = "hello 2.1 (distro)\nFAILED: steps/" + key +
                    ".json \nexec srun kiln step\nsrun: queued\n\nsrun: error: no machine\n" + other +
                    "\nninja: build stopped: cannot make progress due to previous errors.\n";
    return result;
  };
  const BuildReport report = one.run();
  EXPECT_EQ(report.images.at(0).outcome, Outcome::failed);
  EXPECT_EQ(
      report.images.at(0).reason,
      "hello 2.1 (distro): its process ended without a record: srun: error: no machine (infrastructure)");
  EXPECT_EQ(report.images.at(0).failure, FailureClass::infrastructure);
}

TEST(Build, WhatTheNextStepPrintsIsNotOfTheOneThatFailed) {
  OneImage one;
  const std::string key = one.plan.steps().hex(one.image.steps()[1]);
  one.runner.respond = [&](const Command&) {
    one.make_step(0);
    CommandResult result{CommandEnd::exited, 1, "", "", 1};
    result.output = "hello 2.1 (distro)\nFAILED: [code=1] steps/" + key + ".json \nexec kiln step\n" +
                    "image " + one.image.reference() + "\nsomething else\n";
    return result;
  };
  EXPECT_EQ(one.run().images.at(0).reason,
            "hello 2.1 (distro): its process ended without a record (infrastructure)");
}

TEST(Build, AKilledNinjaIsSaid) {
  OneImage one;
  one.runner.respond = [&](const Command& command) {
    EXPECT_EQ(command.grace.count(), 0) << "it is waited for: its steps clean up";
    EXPECT_TRUE(terms_of(one).of_ninja);
    return CommandResult{CommandEnd::signalled, 9, "", "", 0};
  };
  const BuildReport report = one.run();
  EXPECT_EQ(report.stopped, "ninja was killed by signal 9 (out of memory?)");
  EXPECT_EQ(report.exit_code(), ExitCode::network);
  ASSERT_EQ(report.images.size(), 1u);
  EXPECT_EQ(report.images[0].outcome, Outcome::not_reached);
  EXPECT_EQ(report.images[0].reason, report.stopped);
  EXPECT_EQ(to_json(report)["stopped"], report.stopped);
}

// A launcher's child is no child of ninja.
TEST(Build, StepsOfALauncherDoNotAskForNinja) {
  OneImage one;
  one.site.launcher.words = {"srun"};
  one.run();
  ASSERT_EQ(one.runner.commands.size(), 1u);
  EXPECT_FALSE(terms_of(one).of_ninja);
  EXPECT_EQ(terms_of(one).at_once, 0) << "they share no machine";
}

TEST(Build, LogsHaveNamesThatAPersonFinds) {
  OneImage one;
  one.run();
  const fs::path folder = one.state.root() / "logs" / one.image.id();
  EXPECT_EQ(one.files.list(folder),
            (std::vector<std::string>{"01-base-debian.log", "02-framework-hello.log", "image.log"}));
  EXPECT_EQ(fs::read_symlink(folder / "02-framework-hello.log"),
            "../" + one.plan.steps().hex(one.image.steps()[1]) + ".log");
}

TEST(Build, ALauncherThatIsNotThereIsNamed) {
  OneImage one;
  one.site.launcher.words = {"srum", "-n1"};
  one.runner.missing.insert("srum");
  try {
    one.run();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::tool_missing);
    EXPECT_NE(error.message().find("'srum'"), std::string::npos);
  }
}

TEST(Build, WithoutNinjaTheToolIsNamed) {
  OneImage one;
  one.runner.missing.insert("ninja");
  EXPECT_THROW(one.run(), Error);
}

TEST(Build, NinjasOwnErrorIsNotTakenForAFailedImage) {
  OneImage one;
  one.runner.respond = [](const Command&) {
    return CommandResult{CommandEnd::exited, 1, "", "ninja: error: build.ninja:3: lexing error", 0};
  };
  try {
    one.run();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.message().find("lexing error"), std::string::npos);
  }
}

}  // namespace
}  // namespace kiln
