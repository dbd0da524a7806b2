#include "image/build/build.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "image/engine/architecture.h"
#include "image/state/claim.h"
#include "image/state/record_files.h"
#include "registry/image_blobs.h"
#include "support/built_image.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

ImageOutcome failed(ExitCode cause) {
  ImageOutcome outcome;
  outcome.outcome = Outcome::failed;
  outcome.cause = cause;
  return outcome;
}

ImageOutcome ended(Outcome end) {
  ImageOutcome outcome;
  outcome.outcome = end;
  return outcome;
}

TEST(BuildReport, TheExitCodeNamesTheOneCause) {
  BuildReport report;
  EXPECT_EQ(report.exit_code(), ExitCode::ok);
  report.images = {ended(Outcome::built), ended(Outcome::up_to_date)};
  EXPECT_EQ(report.exit_code(), ExitCode::ok);
  report.images.push_back(failed(ExitCode::network));
  EXPECT_EQ(report.exit_code(), ExitCode::network);
  report.images.push_back(failed(ExitCode::network));
  EXPECT_EQ(report.exit_code(), ExitCode::network);
  report.images.push_back(failed(ExitCode::images_failed));
  EXPECT_EQ(report.exit_code(), ExitCode::images_failed) << "two causes";
  report.interrupted = true;
  EXPECT_EQ(report.exit_code(), ExitCode::interrupted);
}

TEST(BuildReport, WhatWasNotReachedIsAFailure) {
  BuildReport report;
  report.images = {ended(Outcome::built), ended(Outcome::not_reached)};
  EXPECT_EQ(report.exit_code(), ExitCode::images_failed);
}

TEST(BuildReport, JsonCountsVerdicts) {
  BuildReport report;
  report.images = {ended(Outcome::built), failed(ExitCode::store), ended(Outcome::up_to_date)};
  report.images[1].reason = "busybox 1.35: the disk is full";
  Json json = to_json(report);
  EXPECT_EQ(json["built"], 1);
  EXPECT_EQ(json["up_to_date"], 1);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["images"][1]["reason"], "busybox 1.35: the disk is full");
  EXPECT_EQ(json["images"][0]["verdict"], "built");
}

TEST(BuildReport, JsonSaysWhichImageItSpeaksOf) {
  BuildReport report;
  ImageOutcome image = failed(ExitCode::images_failed);
  image.id = "pytorch@2.6.0";
  image.name = "pytorch:2.6.0-distro";
  image.key = "0123";
  image.log = "/var/kiln/logs/0123.log";
  report.images = {image, ended(Outcome::skipped), ended(Outcome::not_reached)};
  report.steps_run = 3;
  report.seconds = 1.5;
  const Json expected = {{"images",
                          {{{"id", "pytorch@2.6.0"},
                            {"name", "pytorch:2.6.0-distro"},
                            {"key", "0123"},
                            {"verdict", "failed"},
                            {"log", "/var/kiln/logs/0123.log"}},
                           {{"id", ""}, {"name", ""}, {"key", ""}, {"verdict", "skipped"}},
                           {{"id", ""}, {"name", ""}, {"key", ""}, {"verdict", "not reached"}}}},
                         {"built", 0},
                         {"up_to_date", 0},
                         {"failed", 2},
                         {"skipped", 1},
                         {"steps_run", 3},
                         {"seconds", 1.5}};
  EXPECT_EQ(to_json(report), expected);
}

// A plan of one image in two steps.
BuildPlan one_image(const std::string& target) {
  testing::Resolver resolver(
      {testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
       testing::RecipeDraft(Kind::framework, "hello", {"2.1"}).method("distro", "echo")});
  Matrix matrix = testing::matrix({testing::axis("framework", {"hello"}), testing::axis("base", {"debian"}),
                                   testing::axis("target", {target})});
  matrix.name = "one";
  return plan_matrix(std::move(matrix), resolver.input());
}

const char* target_of(const std::string& architecture) {
  return architecture == "arm64" ? "neoverse_v1" : "x86_64_v3";
}

// The real files, and what /proc would say of emulators.
class FilesWithEmulators final : public FileSystem {
 public:
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const override {
    auto set = emulators.find(path.string());
    if (path.string().starts_with("/proc/"))
      return set == emulators.end() ? std::nullopt : std::optional(set->second);
    return real_.read(path, most);
  }
  void write(const fs::path& path, std::string_view bytes) override { real_.write_output(path, bytes); }
  bool exists(const fs::path& path) const override { return real_.exists(path); }
  bool is_directory(const fs::path& path) const override { return real_.is_directory(path); }
  std::vector<std::string> list(const fs::path& folder) const override { return real_.list(folder); }
  void make_directories(const fs::path& path) override { real_.make_directories(path); }
  void remove_all(const fs::path& path) override { real_.remove_all(path); }
  void rename(const fs::path& from, const fs::path& to) override { real_.rename(from, to); }

  std::map<std::string, std::string> emulators;

 private:
  RealFileSystem real_;
};

struct OneImage {
  testing::TemporaryFolder folder;
  FilesWithEmulators files;
  testing::FakeCommandRunner runner;
  testing::FakeClock clock;
  StatePaths state{folder / "state"};
  Site site;
  RecipeBook recipes;
  BuildPlan plan;
  ResolvedImage image = plan.image(0);

  explicit OneImage(const std::string& architecture = own_architecture())
      : plan(one_image(target_of(architecture))) {}

  void die_with_claim(const std::string& key) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Claim claim(state, key, clock, [](const std::string&) {});
      ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
  }

  BuildReport run() {
    Progress progress(
        ProgressStyle::none, clock, [](const std::string&) {}, false);
    BuildSetup setup{plan, {0}, recipes, site, state, files, runner, clock, {}};
    return build(setup, {2, true, "/usr/bin/kiln"}, progress);
  }

  fs::path built_file() const { return state.built(image.record_name()); }
  std::string key(std::size_t step) const { return plan.steps().hex(image.steps().at(step)); }

  // What `kiln step` leaves: the layers of the steps below, and one of its own with these bytes.
  void make_step(std::size_t number, const std::string& bytes = "") {
    BlobStore store(state.store());
    StepRecord record;
    if (number > 0) record.chain = RecordReader(state, files).step(key(number - 1))->chain;
    record.key = key(number);
    std::string content = bytes.empty() ? "layer of " + record.key : bytes;
    record.chain.layers.push_back({store.put(content, std::string(media_type::kLayerZstd)),
                                   Digest::of("tar of " + content), record.key, "step"});
    RecordWriter(state, files).write(record);
    steps_run.push_back(number);
  }
  // As ninja does: the steps without a record, then the image.
  void make_what_is_missing() {
    for (std::size_t step = 0; step < image.steps().size(); ++step)
      if (!files.exists(state.step(key(step)))) make_step(step);
    make_built();
  }
  void make_built() {
    std::vector<Descriptor> layers;
    if (auto last = RecordReader(state, files).step(key(1)))
      for (const BuiltLayer& layer : last->chain.layers) layers.push_back(layer.blob);
    testing::make_built(testing::names_of(image), state, files, layers);
  }
  Digest layer(std::size_t step) const {
    return RecordReader(state, files).step(key(step))->chain.layers.back().blob.digest;
  }

  std::vector<std::size_t> steps_run{};
};

// Recipes that no image of the plan needs are not copied to where steps read theirs.
TEST(Build, OnlyTheRecipesOfThePlanAreCopied) {
  OneImage one;
  for (testing::RecipeDraft recipe :
       {testing::RecipeDraft(Kind::framework, "hello", {"2.1"}).method("distro", "echo"),
        testing::RecipeDraft(Kind::library, "other", {"1"}).method("distro", "echo")})
    one.recipes.add(recipe.get());
  one.run();
  EXPECT_TRUE(one.files.exists(one.state.recipes() / "framework/hello/distro.sh"));
  EXPECT_FALSE(one.files.exists(one.state.recipes() / "library/other/distro.sh"));
}

TEST(Build, NinjaIsNotAskedWhenEverythingIsBuilt) {
  OneImage one;
  one.make_built();
  BuildReport report = one.run();
  EXPECT_TRUE(one.runner.commands.empty());
  EXPECT_EQ(report.images.at(0).outcome, Outcome::up_to_date);
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
  EXPECT_EQ(argv, (std::vector<std::string>{"ninja", "-C", one.state.root(), "-f", "build.ninja", "-j", "2",
                                            "-k", "0", "--", one.image.id()}));
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
  report.images.push_back(ended(Outcome::built));
  EXPECT_EQ(report.exit_code(), ExitCode::ok);
}

TEST(Build, AnotherMachineMayHaveBuiltIt) {
  OneImageForOthers one;
  one.make_built();
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::up_to_date);
}

TEST(Build, ALauncherOrAnEmulatorStandsInForOtherMachines) {
  OneImageForOthers by_launcher;
  by_launcher.site.launcher = {"srun"};
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

TEST(Build, AKilledNinjaIsSaid) {
  OneImage one;
  one.runner.respond = [](const Command& command) {
    EXPECT_EQ(command.grace.count(), 0) << "it is waited for: its steps clean up";
    EXPECT_EQ(command.environment.at(kStepOfNinja), "1");
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
  one.site.launcher = {"srun"};
  one.run();
  EXPECT_FALSE(one.runner.commands.at(0).environment.contains(kStepOfNinja));
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

TEST(Build, ALayoutThatIsGoneIsPackagedAgain) {
  OneImage one;
  one.make_what_is_missing();
  fs::remove_all(one.state.layout("hello", one.image.immutable_tag()));
  one.runner.respond = [&](const Command&) {
    EXPECT_FALSE(one.files.exists(one.built_file())) << "ninja would believe the record";
    one.make_what_is_missing();
    return CommandResult{};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::built);
  EXPECT_EQ(one.steps_run, (std::vector<std::size_t>{0, 1})) << "nothing was run again";
}

// Every kind of blob, cut and gone.
TEST(Build, ADamagedImageIsPackagedAgain) {
  OneImage one;
  one.make_what_is_missing();
  one.runner.respond = [&](const Command&) {
    one.make_what_is_missing();
    return CommandResult{};
  };
  auto record = RecordReader(one.state, one.files).image(one.image.record_name());
  BlobStore store(one.state.store());
  for (const ImageBlob& blob : blobs_of(*record, store)) {
    if (blob.what.starts_with("layer")) continue;
    for (bool cut : {true, false}) {
      if (cut)
        fs::resize_file(store.path(blob.digest), blob.size / 2);
      else
        fs::remove(store.path(blob.digest));
      EXPECT_EQ(one.run().images.at(0).outcome, Outcome::built) << blob.what;
      EXPECT_EQ(store.size_of(blob.digest), blob.size) << blob.what;
      EXPECT_EQ(one.run().images.at(0).outcome, Outcome::up_to_date) << blob.what;
    }
  }
  EXPECT_EQ(one.steps_run, (std::vector<std::size_t>{0, 1})) << "no step was run again";
}

TEST(Build, AStepWhoseLayerIsCutOrGoneIsRunAgainAlone) {
  for (std::size_t damaged : {0u, 1u})
    for (bool cut : {true, false}) {
      OneImage one;
      one.make_what_is_missing();
      one.steps_run.clear();
      fs::path file = BlobStore(one.state.store()).path(one.layer(damaged));
      if (cut)
        fs::resize_file(file, 3);
      else
        fs::remove(file);
      one.runner.respond = [&](const Command&) {
        one.make_what_is_missing();
        return CommandResult{};
      };
      BuildReport report = one.run();
      EXPECT_EQ(report.images.at(0).outcome, Outcome::built);
      EXPECT_EQ(report.exit_code(), ExitCode::ok);
      EXPECT_EQ(one.steps_run, std::vector<std::size_t>{damaged});
      EXPECT_EQ(one.runner.commands.size(), 1u);
      EXPECT_EQ(one.run().images.at(0).outcome, Outcome::up_to_date);
    }
}

TEST(Build, WhatHangsOnAStepThatMakesOtherBitsIsRunAgain) {
  OneImage one;
  one.make_what_is_missing();
  one.steps_run.clear();
  fs::remove(BlobStore(one.state.store()).path(one.layer(0)));
  one.runner.respond = [&](const Command&) {
    if (one.runner.commands.size() == 1)
      one.make_step(0, "what the archive has today");
    else
      one.make_what_is_missing();
    return CommandResult{};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::built);
  EXPECT_EQ(one.steps_run, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::up_to_date);
}

TEST(Build, ADamagedRecordOfAStepIsNoRecord) {
  OneImage one;
  one.make_what_is_missing();
  one.steps_run.clear();
  one.files.write(one.state.step(one.key(1)), "{\"key\": ");
  fs::remove(one.built_file());
  one.runner.respond = [&](const Command&) {
    one.make_what_is_missing();
    return CommandResult{};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::built);
  EXPECT_EQ(one.steps_run, std::vector<std::size_t>{1});
}

TEST(Build, DamageThatComesBackEndsTheBuild) {
  OneImage one;
  one.runner.respond = [&](const Command&) {
    one.make_step(0);
    one.make_step(1);
    fs::remove(BlobStore(one.state.store()).path(one.layer(1)));
    return CommandResult{};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::not_reached);
  EXPECT_EQ(one.runner.commands.size(), 4u);
}

TEST(Build, ALauncherThatIsNotThereIsNamed) {
  OneImage one;
  one.site.launcher = {"srum", "-n1"};
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
