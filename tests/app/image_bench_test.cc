#include "factory/app/image_bench.h"

#include "app/bench_fixture.h"

namespace kiln::testing {
namespace {

using Strings = std::vector<std::string>;

class ImageBenchTest : public BenchFixture {
 protected:
  ImageBenchTest() : BenchFixture({axis("method", {"distro", "pip"}), axis("target", {"x86_64_v3"})}) {
    work_.workload = "mnist-cnn";
    work_.rounds = 2;
    work_.repeats = 0;
  }
  void prepare() {
    for (const std::uint32_t number : {0u, 1u}) build(number);
    publish({0, 1});
  }

  ImageBenchDone bench(const ImageNumbers& images = {0, 1}) {
    ImageBenchEffects effects{[this](const BenchRequest& request) {
                                started_.push_back(request.image.key);
                                if (failing_.contains(request.image.key))
                                  throw Error(ExitCode::images_failed, "exit status 1");
                                clock_.now += 60;
                                return std::vector<BenchRun>{run_of(request, clock_.now)};
                              },
                              [] { return std::string("0.9, recipes of 0123"); },
                              [this](const std::string& line) { notes_.push_back(line); }};
    if (in_jobs_) {
      effects.at_once = 2;
      effects.jobs = [this](const std::vector<BenchRound>& rounds, int repeats, const RoundFiles& folder) {
        return answer(rounds, repeats, folder);
      };
    }
    return ImageBench({catalogue_, state_, files_, clock_, bench_host(), architecture_, {{"X", "1"}}}, index_,
                      std::move(effects))
        .run(work_, images);
  }
  Error refusal(const ImageNumbers& images = {0, 1}) {
    try {
      bench(images);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return {ExitCode::ok, ""};
  }
  std::vector<std::vector<BenchAnswer>> answer(const std::vector<BenchRound>& rounds, int repeats,
                                               const RoundFiles& folder) {
    jobs_.emplace_back(rounds.size(), repeats);
    EXPECT_TRUE(files_.exists(folder.folder()));
    std::vector<std::vector<BenchAnswer>> answers;
    for (const BenchRound& round : rounds) {
      answers.emplace_back();
      for (const BenchRequest& request : round)
        answers.back().push_back({request.image.key, {run_of(request, clock_.now)}});
    }
    return answers;
  }
  std::size_t recorded(std::uint32_t number) const {
    for (const IndexEntry& entry : index_.entries())
      if (entry.image.key == image(number).key()) return entry.measurements.size();
    return 0;
  }

  std::string architecture_ = "amd64";
  BenchWork work_;
  std::set<std::string> failing_;  // keys
  bool in_jobs_ = false;
  Strings started_, notes_;
  std::vector<std::pair<std::size_t, int>> jobs_;  // rounds and repeats of each call
};

TEST_F(ImageBenchTest, MeasuresImagesInTurnsAndRecordsThem) {
  prepare();
  const ImageBenchDone done = bench();
  const std::string a = image(0).key(), b = image(1).key();
  EXPECT_EQ(started_, (Strings{a, b, b, a}));
  ASSERT_EQ(done.rows.size(), 2u);
  EXPECT_EQ(done.rows[0].image, name(0));
  EXPECT_TRUE(done.rows[0].fresh);
  EXPECT_EQ(done.rows[0].measurement.rounds, 2);
  EXPECT_EQ(done.rows[0].runs.front().kiln, "0.9, recipes of 0123");
  EXPECT_EQ(done.rows[0].history.size(), 1u) << "of the index, with these runs";
  EXPECT_TRUE(done.errors.empty());
  EXPECT_EQ(recorded(0), 1u);
  EXPECT_EQ(recorded(1), 1u);
  EXPECT_TRUE(files_.list(state_.bench_begun()).empty()) << "the comparison has ended";
}

TEST_F(ImageBenchTest, PassesOverWhatIsNotPublishedOrNotBuilt) {
  build(0);
  build(1);
  publish({0});
  EXPECT_EQ(bench().rows.size(), 1u);
  EXPECT_EQ(notes_.front(), "bench  " + name(1) + ": passed over, as it is not in the index");
  notes_.clear();
  publish({1});
  files_.remove_all(last_step(1));
  work_.again = true;
  EXPECT_EQ(bench().rows.size(), 1u);
  EXPECT_EQ(notes_.front(), "bench  " + name(1) + ": passed over, as it is not built in this state folder");
}

TEST_F(ImageBenchTest, RefusesWhatIsNotPublished) {
  build(0);
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::no_match);
  EXPECT_EQ(error.message(), name(0) + " is not in the index");
  EXPECT_NO_THROW(bench({})) << "nothing was asked for";
}

TEST_F(ImageBenchTest, RefusesWhatIsNotBuilt) {
  publish({0, 1});
  EXPECT_EQ(refusal().message(), name(0) + " is not built in this state folder");
  EXPECT_TRUE(started_.empty());
}

TEST_F(ImageBenchTest, RefusesImagesForOtherMachines) {
  prepare();
  architecture_ = "arm64";
  const Error error = refusal();
  EXPECT_EQ(error.code(), ExitCode::no_match);
  EXPECT_EQ(error.message(), "none of the images is for machines such as this one");
  EXPECT_EQ(notes_.size(), 2u);
}

TEST_F(ImageBenchTest, RefusesAnUnknownWorkloadAndMissingDataBeforeAnythingRuns) {
  prepare();
  work_.wishes.data = folder_.path() / "digits";
  EXPECT_EQ(refusal().code(), ExitCode::input);
  files_.write(work_.wishes.data, "");
  EXPECT_EQ(bench().rows.size(), 2u);
  started_.clear();
  work_.workload = "mnist-cn";
  EXPECT_EQ(refusal().code(), ExitCode::usage);
  EXPECT_EQ(refusal().message(), "there is no workload 'mnist-cn'");
  EXPECT_TRUE(started_.empty());
}

TEST_F(ImageBenchTest, MeasuresWhatIsKnownOnlyIfAsked) {
  prepare();
  bench();
  started_.clear();
  const ImageBenchDone known = bench();
  EXPECT_TRUE(started_.empty());
  ASSERT_EQ(known.rows.size(), 2u);
  EXPECT_FALSE(known.rows[0].fresh);
  EXPECT_TRUE(known.rows[0].runs.empty());
  work_.again = true;
  EXPECT_TRUE(bench().rows[0].fresh);
  EXPECT_EQ(started_.size(), 4u);
}

TEST_F(ImageBenchTest, SaysWhereOnlySomeAreMeasuredNow) {
  prepare();
  bench({0});
  EXPECT_TRUE(notes_.size() > 1 && notes_[0].starts_with("bench  mnist-cnn in "));
  notes_.clear();
  const ImageBenchDone done = bench();
  EXPECT_EQ(notes_.front(),
            "bench  some were measured before, not in turns with these; --again measures all");
  ASSERT_EQ(done.rows.size(), 2u);
  EXPECT_FALSE(done.rows[0].fresh);
  EXPECT_TRUE(done.rows[1].fresh);
}

TEST_F(ImageBenchTest, GoesOnInTheSessionThatWasKilled) {
  prepare();
  work_.rounds = 3;
  work_.no_round_after = clock_.now + 100;
  bench();
  ASSERT_EQ(started_.size(), 2u);
  EXPECT_EQ(files_.list(state_.bench_begun()).size(), 1u);
  work_.no_round_after = 0;
  notes_.clear();
  clock_.now += 86'400;
  const ImageBenchDone done = bench();
  EXPECT_EQ(notes_.front(), "bench  goes on: 2 runs were done before");
  EXPECT_EQ(started_.size(), 6u);
  ASSERT_EQ(done.rows[0].runs.size(), 3u);
  for (const BenchRun& run : done.rows[0].runs) EXPECT_EQ(run.session, done.rows[0].runs[0].session);
}

TEST_F(ImageBenchTest, LeavesOutAnImageWhoseWorkloadFails) {
  prepare();
  failing_ = {image(1).key()};
  const ImageBenchDone done = bench();
  ASSERT_EQ(done.rows.size(), 1u);
  EXPECT_EQ(done.rows[0].image, name(0));
  EXPECT_EQ(done.errors.size(), 1u);
  EXPECT_EQ(recorded(1), 0u);
}

TEST_F(ImageBenchTest, ThrowsTheOnlyErrorWhereNothingWasMeasured) {
  prepare();
  failing_ = {image(0).key(), image(1).key()};
  EXPECT_EQ(bench().errors.size(), 2u);
  EXPECT_EQ(refusal({0}).message(), "exit status 1");
}

TEST_F(ImageBenchTest, JobsRepeatTheirRunsThemselves) {
  prepare();
  in_jobs_ = true;
  work_.rounds = 3;
  work_.repeats = 4;
  const ImageBenchDone done = bench();
  EXPECT_TRUE(started_.empty());
  EXPECT_EQ(jobs_, (std::vector<std::pair<std::size_t, int>>{{2, 4}, {1, 4}})) << "two rounds at a time";
  ASSERT_EQ(done.rows.size(), 2u);
  EXPECT_EQ(done.rows[0].measurement.rounds, 3);
  EXPECT_TRUE(files_.list(state_.root() / "bench/rounds").empty()) << "and their files go at the end";
}

}  // namespace
}  // namespace kiln::testing
