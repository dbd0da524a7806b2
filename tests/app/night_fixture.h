// A night whose parts do as the test says, over two images.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "factory/app/night_course.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

namespace kiln {

class FakeParts : public NightParts {
 public:
  explicit FakeParts(BuildPlan plan) : plan_(std::move(plan)) {}

  std::vector<LockChange> move_lockfile(LockNews&) override {
    if (on_lockfile) on_lockfile();
    return {};
  }
  const BuildPlan& plan(std::vector<std::string>& remarks, std::vector<Error>& damaged_now) override {
    if (on_plan) on_plan(remarks);
    damaged_now = damaged;
    return plan_;
  }
  void build(const std::vector<LockChange>&, NightBuild& night) override {
    for (std::uint32_t number : all_images(plan_)) {
      const ResolvedImage image = plan_.image(number);
      ImageOutcome outcome;
      outcome.id = image.id();
      outcome.name = image.reference();
      outcome.key = image.key();
      outcome.outcome = Outcome::up_to_date;
      night.report.images.push_back(outcome);
    }
    if (on_build) on_build(night);
  }
  NightPublication publish() override {
    ++published;
    NightPublication done;
    if (on_publish) on_publish(done);
    return done;
  }
  NightPublication follow() override {
    ++followed;
    return {};
  }
  void measure(const std::vector<NightImage>& before, NightMeasuring& done) override {
    if (on_measure) on_measure(before, done);
  }
  std::string collect(std::optional<Error>& in_registry) override {
    if (on_collect) on_collect(in_registry);
    return "";
  }
  std::optional<Index> open_index(Index::Mode mode) override {
    if (mode == Index::Mode::write) ++written;
    if (root.empty()) return std::nullopt;
    return Index::open(root, mode);
  }
  void need_lease() override {}
  void say(const std::string& line) override { said.push_back(line); }
  void tell(const NightReport& report) override {
    told.push_back(report.state);
    if (on_tell) on_tell();
  }
  std::vector<std::string> warnings() override { return heard; }

  std::function<void()> on_lockfile, on_tell;
  std::function<void(std::vector<std::string>&)> on_plan;
  std::vector<Error> damaged;  // applications
  std::function<void(NightBuild&)> on_build;
  std::function<void(NightPublication&)> on_publish;
  std::function<void(std::optional<Error>&)> on_collect;
  std::function<void(const std::vector<NightImage>&, NightMeasuring&)> on_measure;
  std::vector<std::string> heard, said;
  std::vector<NightState> told;
  int published = 0, followed = 0, written = 0;
  fs::path root;  // of an index; "" = there is none

 private:
  BuildPlan plan_;
};

class NightFixture : public ::testing::Test {
 protected:
  static BuildPlan plan() {
    static const testing::Resolver resolver;
    return plan_matrix(
        testing::matrix({testing::axis("framework", {"pytorch"}), testing::axis("version", {"2.6.0"}),
                         testing::axis("base", {"debian"}), testing::axis("method", {"distro", "pip"}),
                         testing::axis("target", {"x86_64_v3"})}),
        resolver.input());
  }

  NightReport run() {
    clock_.now += 86'400;
    return run_night(setup(), parts_);
  }
  NightSetup setup() {
    return {"demo", site_, state_, files_, clock_, "registry.site:5000/ai", "", true, true, false, measures_};
  }

  std::string text(const NightReport& report, const char* file) {
    return root_.read("nights/demo/" + std::to_string(report.number) + "/" + file);
  }

  testing::TemporaryFolder root_;
  RealFileSystem files_;
  testing::FakeClock clock_;
  Site site_;
  StatePaths state_{root_.path()};
  FakeParts parts_{plan()};
  bool measures_ = false;
};

}  // namespace kiln
