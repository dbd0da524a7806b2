#include "factory/app/night_measurer.h"

#include "app/bench_fixture.h"
#include "factory/night/night_gains.h"

namespace kiln::testing {
namespace {

using Strings = std::vector<std::string>;

// Four images of PyTorch: of the distribution, which is the stock one, and of pip, each alone and with
// OpenBLAS. Those with OpenBLAS are for x86_64_v4, and those of pip claim a gain.
class NightMeasurerTest : public ::testing::Test {
 protected:
  NightMeasurerTest() {
    suite("mnist-cnn");
    for (const std::uint32_t number : all_images(catalogue_.plan)) {
      const ResolvedImage image = catalogue_.plan.image(number);
      IndexEntry entry;
      entry.image.key = image.key();
      entry.image.manifest = Digest::of(image.key());
      entry.image.repository = "pytorch";
      entry.image.version = Version("2.6.0");
      entry.image.cpu = image.request().axes.at("library") == "none" ? "x86_64_v3" : "x86_64_v4";
      entry.image.optimised = image.request().axes.at("method") == "pip";
      entries_.push_back(entry);
      files_.files[last_step(number).string()] = "{}";
    }
  }

  SuiteWorkload& suite(const std::string& name) {
    terms_.suite.workloads.emplace_back();
    terms_.suite.workloads.back().name = name;
    return terms_.suite.workloads.back();
  }
  fs::path last_step(std::uint32_t number) const {
    return state_.step(catalogue_.plan.image(number).spec().last_step().key);
  }
  std::uint32_t number_of(const std::string& method, const std::string& library = "none") const {
    for (const std::uint32_t number : all_images(catalogue_.plan)) {
      const AxisValues& axes = catalogue_.plan.image(number).request().axes;
      if (axes.at("method") == method && axes.at("library") == library) return number;
    }
    ADD_FAILURE() << "no such image";
    return 0;
  }

  // A row of each image, with `rounds_`.
  ImageBenchDone bench(const BenchWork& work, const ImageNumbers& images) {
    works_.push_back(work);
    sessions_.push_back(images);
    clock_.now += 600;
    if (fails_) throw Error(*fails_);
    ImageBenchDone done;
    for (std::size_t i = 0; i < images.size(); ++i) {
      done.rows.emplace_back();
      done.rows.back().measurement.rounds = i == 0 ? rounds_ : kProvingRounds;
    }
    if (some_fail_) done.errors.emplace_back(ExitCode::images_failed, "exit status 1");
    return done;
  }

  const NightMeasuring& measure() {
    measure_tonight(
        {catalogue_, terms_, state_, files_, clock_, archspec(), host_, architecture_, in_jobs_, entries_,
         before_},
        {[this](bool is_first) {
           firsts_.push_back(is_first);
           return busy_;
         },
         [this](const BenchWork& work, const ImageNumbers& images) { return bench(work, images); }},
        done_);
    return done_;
  }

  Catalogue catalogue_ =
      bench_catalogue({axis("method", {"distro", "pip"}), axis("library", {"none", "openblas"}),
                       axis("target", {"x86_64_v3"})});
  FakeFileSystem files_;
  FakeClock clock_;
  StatePaths state_{"/state"};
  MeasureTerms terms_;
  HostDescription host_ = bench_host();
  std::string architecture_ = "amd64";
  bool in_jobs_ = false;
  std::vector<IndexEntry> entries_;
  std::vector<NightImage> before_;
  NightMeasuring done_;

  double busy_ = 0;
  int rounds_ = kProvingRounds;
  bool some_fail_ = false;
  std::optional<Error> fails_;
  std::vector<bool> firsts_;
  std::vector<BenchWork> works_;
  std::vector<ImageNumbers> sessions_;
};

TEST_F(NightMeasurerTest, ComparesWhatRunsHereWithItsStock) {
  EXPECT_EQ(measure().sessions, 1u);
  EXPECT_TRUE(done_.remarks.empty());
  EXPECT_EQ(sessions_, (std::vector<ImageNumbers>{{number_of("distro"), number_of("pip")}}))
      << "a Zen 3 has no AVX-512";
  host_.cpu = "zen4";
  measure();
  EXPECT_EQ(sessions_.back(),
            (ImageNumbers{number_of("distro"), number_of("pip"), number_of("pip", "openblas")}));
}

TEST_F(NightMeasurerTest, ASessionHasItsWorkload) {
  SuiteWorkload& workload = terms_.suite.workloads.front();
  workload.steps = 20;
  workload.ranks = 2;
  workload.data = "/data";
  workload.rounds = kProvingRounds + 2;
  measure();
  ASSERT_EQ(works_.size(), 1u);
  EXPECT_EQ(works_[0].workload, "mnist-cnn");
  EXPECT_EQ(works_[0].wishes, (WorkloadWishes{20, 2, "/data"}));
  EXPECT_EQ(works_[0].rounds, kProvingRounds + 2);
  EXPECT_EQ(works_[0].repeats, BenchWork().repeats);
  EXPECT_TRUE(works_[0].again) << "the stock image takes its turns, too";
  EXPECT_EQ(works_[0].no_round_after, 0);
  workload.rounds = 1;
  measure();
  EXPECT_EQ(works_.back().rounds, kProvingRounds) << "fewer prove nothing";
}

TEST_F(NightMeasurerTest, WhatIsNotInTheIndexOrNotBuiltIsLeftOut) {
  const std::uint32_t pip = number_of("pip");
  files_.files.erase(last_step(pip).string());
  EXPECT_EQ(measure().sessions, 0u);
  files_.files[last_step(pip).string()] = "{}";
  entries_[pip].image.key = std::string(64, 'f');
  EXPECT_EQ(measure().sessions, 0u);
}

TEST_F(NightMeasurerTest, ImagesForOtherMachinesAreLeftOut) {
  architecture_ = "arm64";
  EXPECT_EQ(measure().sessions, 0u);
}

TEST_F(NightMeasurerTest, AnAcceleratedImageNeedsAHostWithAccelerators) {
  for (IndexEntry& entry : entries_) entry.image.accelerators = {"sm_80"};
  EXPECT_EQ(measure().sessions, 0u);
  host_.accelerators = {"sm_80"};
  EXPECT_EQ(measure().sessions, 1u);
  fails_ = Error(ExitCode::no_match, "none is built");
  EXPECT_EQ(measure().remarks, Strings{"not measured: mnist-cnn in 2 images of pytorch 2.6.0 for sm_80 "
                                       "(new): none is built"})
      << "their group has its name";
}

TEST_F(NightMeasurerTest, AnUnknownTargetIsTried) {
  entries_[number_of("pip", "openblas")].image.cpu = "of tomorrow";
  measure();
  EXPECT_EQ(sessions_.front().size(), 3u);
}

TEST_F(NightMeasurerTest, ImagesWithoutStockAreRemarked) {
  entries_[number_of("distro")].image.key = std::string(64, 'f');
  EXPECT_EQ(measure().sessions, 0u);
  EXPECT_EQ(done_.remarks,
            Strings{"not measured: mnist-cnn in images of pytorch 2.6.0, which have no stock image here"});
}

TEST_F(NightMeasurerTest, OnlyImagesThatClaimMoreAreMeasured) {
  for (IndexEntry& entry : entries_) entry.image.optimised = false;
  EXPECT_EQ(measure().sessions, 0u);
  EXPECT_TRUE(done_.remarks.empty());
}

TEST_F(NightMeasurerTest, AnUnknownWorkloadAndWrongCellsAreRemarkedAndTheOthersGoOn) {
  terms_.suite.workloads.clear();
  suite("mlp");
  suite("mnist-cnn").cells = {"method=conda"};
  suite("mnist-cnn");
  EXPECT_EQ(measure().sessions, 1u);
  ASSERT_EQ(done_.remarks.size(), 2u);
  EXPECT_EQ(done_.remarks[0], "not measured: there is no workload 'mlp' of the suite");
  EXPECT_TRUE(done_.remarks[1].starts_with("not measured: mnist-cnn: ")) << done_.remarks[1];
}

TEST_F(NightMeasurerTest, CellsAndExcludesChoose) {
  terms_.suite.workloads.front().exclude = {"method=pip"};
  EXPECT_EQ(measure().sessions, 0u);
  terms_.suite.workloads.front() = {};
  terms_.suite.workloads.front().name = "mnist-cnn";
  terms_.suite.workloads.front().cells = {"library=none"};
  EXPECT_EQ(measure().sessions, 1u);
}

TEST_F(NightMeasurerTest, WhatFellBackIsRemembered) {
  NightImage image;
  image.cell = catalogue_.plan.image(number_of("pip")).id();
  NightGain fallen;
  fallen.fell = 3;
  image.gains[gain_place("mnist-cnn", host_)] = fallen;
  before_ = {image};
  fails_ = Error(ExitCode::images_failed, "killed\nby signal 9");
  EXPECT_EQ(measure().remarks,
            Strings{"not measured: mnist-cnn in 2 images of pytorch 2.6.0 (fell back): killed"});
  EXPECT_EQ(done_.sessions, 0u);
}

TEST_F(NightMeasurerTest, OtherErrorsEndTheNightsMeasuring) {
  fails_ = Error(ExitCode::interrupted, "interrupted");
  EXPECT_THROW(measure(), Error);
}

TEST_F(NightMeasurerTest, FailuresOfSomeAndTooFewRoundsAreRemarked) {
  some_fail_ = true;
  rounds_ = kProvingRounds - 1;
  EXPECT_EQ(measure().sessions, 1u);
  EXPECT_EQ(
      done_.remarks,
      (Strings{"mnist-cnn in 2 images of pytorch 2.6.0 (new): 6 of 7 rounds count: the next night goes on",
               "mnist-cnn in 2 images of pytorch 2.6.0 (new): the workload failed in some of them"}));
}

TEST_F(NightMeasurerTest, WhatIsLeftAtTheEndOfTheBudgetIsRemarked) {
  terms_.suite.workloads.push_back(terms_.suite.workloads.front());
  terms_.budget = std::chrono::seconds(600);
  const std::int64_t end = clock_.now + 600;
  EXPECT_EQ(measure().sessions, 1u);
  EXPECT_EQ(works_[0].no_round_after, end);
  EXPECT_EQ(done_.remarks,
            Strings{"not measured: mnist-cnn in 2 images: the time was up; the next night goes on"});
  done_ = {};
  terms_.budget = std::chrono::seconds(601);
  EXPECT_EQ(measure().sessions, 2u);
}

TEST_F(NightMeasurerTest, ABusyMachineMeasuresNothing) {
  busy_ = 1.5;
  EXPECT_EQ(measure().sessions, 0u);
  EXPECT_EQ(firsts_, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(done_.remarks, Strings{"not measured: mnist-cnn in 2 images: other processes keep 1.5 of 2 "
                                   "processors busy; the next night goes on"});
  host_.cores = 0;
  done_ = {};
  measure();
  EXPECT_NE(done_.remarks.front().find("1.5 of 1 processor busy"), std::string::npos)
      << "of a machine that does not say";
}

TEST_F(NightMeasurerTest, ABusyMachineIsNoneWhereJobsHaveTheirNodesOrTheSiteSaysSo) {
  busy_ = 1.5;
  in_jobs_ = true;
  EXPECT_EQ(measure().sessions, 1u);
  in_jobs_ = false;
  terms_.on_busy_machine = true;
  EXPECT_EQ(measure().sessions, 2u);
  EXPECT_EQ(works_.back().repeats, 0) << "each run would be disturbed";
  EXPECT_TRUE(firsts_.empty());
}

}  // namespace
}  // namespace kiln::testing
