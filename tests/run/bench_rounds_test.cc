#include "factory/run/bench_rounds.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/plan/plan_json.h"
#include "support/one_image.h"
#include "support/step_fixture.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

BenchRun disturbed_by(double busy) {
  BenchRun run;
  run.conditions.busy = busy;
  if (busy > 1) run.conditions.marks = {kUnderLoad};
  return run;
}

TEST(LeastDisturbed, StartsAgainUntilNothingDisturbs) {
  std::vector<double> starts = {4, 3, 0, 5}, told;
  std::size_t number = 0;
  const auto start = [&] { return std::vector<BenchRun>{disturbed_by(starts.at(number++))}; };
  const auto best = least_disturbed(start, 3, [&](double busy) { told.push_back(busy); });
  EXPECT_EQ(best.front().conditions.busy, 0);
  EXPECT_EQ(number, 3u) << "the third was quiet";
  EXPECT_EQ(told, (std::vector<double>{4, 3}));
}

TEST(LeastDisturbed, KeepsTheQuietestOfTheStartsThatItHas) {
  std::vector<double> starts = {4, 3, 5};
  std::size_t number = 0;
  const auto start = [&] { return std::vector<BenchRun>{disturbed_by(starts.at(number++))}; };
  EXPECT_EQ(least_disturbed(start, 2, [](double) {}).front().conditions.busy, 3);
  number = 0;
  EXPECT_EQ(least_disturbed(start, 0, [](double) {}).front().conditions.busy, 4);
}

// A round of one image, as the command and as a node see it.
class RoundTest : public Steps {
 protected:
  RoundTest() : plan_(one_image("x86_64_v3")), image_(plan_.image(0).spec()) {
    workload_.kind = Kind::workload;
    workload_.name = "say";
    workload_.files["bench.sh"] = {"bench.sh", Digest::of("echo"), "echo"};
    Method method;
    method.script = "bench.sh";
    workload_.methods = {method};
    host_.cpu = "zen3";
    host_.model = "EPYC";
    host_.cores = 64;
    ChosenCells cell;
    cell.images = {0};
    rounds_.write_program(workload_, plan_text(plan_, cell));
  }

  BenchRound round(int number, const std::string& session = "s") const {
    BenchRound round;
    round.push_back(
        {image_, Digest::of("m"), workload_, {}, true, host_, "kiln 1", number, "A", session, ""});
    return round;
  }

  BenchRun run_of(const BenchRequest& request) const {
    BenchRun run;
    run.workload = "say";
    run.unit = "ms/step";
    run.samples = {1, 2};
    run.image = request.manifest;
    run.key = request.image.key;
    run.name = "hello:1";
    run.axes.framework = "hello";
    run.host = host_;
    run.taken = "2026-11-29T00:00:00Z";
    run.kiln = "kiln 1";
    run.session = "of before";
    run.place = "B";
    return run;
  }

  void answer(const std::string& key, const Json& answers) {
    files.write(rounds_.answer(key), Json{{"format", 1}, {"answers", answers}}.dump());
  }

  void run_on(const HostDescription& here) {
    const BenchRound one = round(0);
    rounds_.write(rounds_.key_of(one), one, 1);
    const StepSetup setup{site, state, files, runner, clock, environment, {}};
    NodeRound(rounds_.task(rounds_.key_of(one)), files).run(here, setup);
  }

  BuildPlan plan_;
  ImageSpec image_;
  Recipe workload_;
  HostDescription host_;
  RoundFiles rounds_{folder / "x", files};
};

TEST_F(RoundTest, HasAKeyOfItsImagesAndNumberAndNotOfItsSession) {
  const std::string key = rounds_.key_of(round(0));
  EXPECT_EQ(rounds_.key_of(round(0, "another")), key);
  EXPECT_NE(rounds_.key_of(round(1)), key);
  EXPECT_NE(RoundFiles(folder / "y", files).key_of(round(0)), key) << "another comparison";
}

TEST_F(RoundTest, GivesWhatAJobMeasuredTheSessionThatReadsIt) {
  const BenchRound asked = round(3, "now");
  const std::string key = rounds_.key_of(asked);
  EXPECT_FALSE(rounds_.answers(key, asked));
  answer(key, {{{"key", image_.key}, {"runs", {to_json(run_of(asked.front()))}}}});
  const auto answers = rounds_.answers(key, asked);
  ASSERT_TRUE(answers);
  const BenchRun& run = answers->at(0).runs.at(0);
  EXPECT_EQ(run.session, "now");
  EXPECT_EQ(run.round, 3);
  EXPECT_EQ(run.place, "A");
  EXPECT_EQ(run.samples, (std::vector<double>{1, 2}));
}

TEST_F(RoundTest, RefusesAnswersThatKilnDidNotWrite) {
  const BenchRound asked = round(0);
  const std::string key = rounds_.key_of(asked);
  const Json run = to_json(run_of(asked.front()));
  for (const Json& wrong :
       {Json::array(), Json{{{"key", "other"}, {"runs", {run}}}},
        Json{{{"key", image_.key}, {"runs", Json::array()}}},
        Json{{{"key", image_.key}, {"runs", {run}}}, {{"key", image_.key}, {"runs", {run}}}}, Json("none")}) {
    answer(key, wrong);
    try {
      (void)rounds_.answers(key, asked);
      FAIL() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::store) << wrong;
      EXPECT_NE(error.message().find("a file of a comparison is damaged"), std::string::npos);
    }
  }
}

TEST_F(RoundTest, AnswersEachStartOnceAndThrowsWhatItFailedOf) {
  RoundAnswers answers;
  const BenchRound first = round(0), second = round(1);
  answers.add({first, second},
              {{{image_.key, {run_of(first.front())}}}, {{image_.key, {}, "exit status 1", "look"}}});
  EXPECT_EQ(answers.take(first.front()).size(), 1u);
  EXPECT_THROW(answers.take(first.front()), Error);
  try {
    answers.take(second.front());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
    EXPECT_EQ(error.message(), "exit status 1");
    EXPECT_EQ(error.hint(), "look");
  }
}

TEST_F(RoundTest, MeasuresNothingOnAnotherKindOfMachine) {
  HostDescription here = host_;
  here.model = "Xeon";
  run_on(here);
  const std::string key = rounds_.key_of(round(0));
  EXPECT_FALSE(files.exists(rounds_.answer(key)));
  EXPECT_NE(
      files.read(rounds_.refusal(key)).value_or("").find("(Xeon, 64 cores) than the one that is measured"),
      std::string::npos);
}

// The image is not built in this state folder, which is an answer as any failure of the workload is.
TEST_F(RoundTest, AnswersWhyAnImageFailed) {
  run_on(host_);
  const auto answers = rounds_.answers(rounds_.key_of(round(0)), round(0));
  ASSERT_TRUE(answers);
  EXPECT_TRUE(answers->at(0).runs.empty());
  EXPECT_NE(answers->at(0).why.find("is not built"), std::string::npos) << answers->at(0).why;
}

TEST_F(RoundTest, SaysWhichTaskIsDamaged) {
  const BenchRound one = round(0);
  const std::string key = rounds_.key_of(one);
  rounds_.write(key, one, 1);
  const std::string text = files.read(rounds_.task(key)).value();
  Json without_images = Json::parse(text);
  without_images["images"] = Json::array();
  Json other_cell = Json::parse(text);
  other_cell["images"][0]["cell"] = "nothing";
  for (const std::string& damaged :
       {std::string("{}"), text.substr(0, text.size() / 2), without_images.dump(), other_cell.dump()}) {
    files.write(rounds_.task(key), damaged);
    try {
      const NodeRound node(rounds_.task(key), files);
      FAIL() << damaged;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::store) << error.message();
    }
  }
}

}  // namespace
}  // namespace kiln::testing
