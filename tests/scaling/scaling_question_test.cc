#include "registry/scaling/scaling_question.h"

#include <gtest/gtest.h>

namespace kiln::testing {
namespace {

std::string question_refusal(const ScalingWords& words, const AskedScaling& document = {}) {
  try {
    read_scaling_question(words, document);
  } catch (const Error& error) {
    return (error.code() == ExitCode::usage ? "usage " : "") + error.format();
  }
  return "no error";
}

using Ranks = std::vector<std::int64_t>;

TEST(ScalingQuestion, ReadsADocument) {
  const auto question = read_scaling_question({}, {"resnet50", 64, 0.8, {}});
  ASSERT_TRUE(question.network);
  EXPECT_EQ(question.ranks, (Ranks{1, 2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(question.least(), 0.8);
  EXPECT_EQ(question.terms.batch, 64);
  EXPECT_EQ(question.kinds.size(), 9U);
}

TEST(ScalingQuestion, TakesANetworkOfAFile) {
  Network mine = network_named("alexnet");
  mine.name = "mine";
  const auto question = read_scaling_question({.network = "mine.json"}, {"", 64, {}, mine});
  EXPECT_EQ(question.network->name, "mine");
  for (NetworkLayer& layer : mine.layers) layer.seconds = 0;
  EXPECT_NE(question_refusal({.network = "mine.json"}, {"", 64, {}, mine})
                .find("how long mine computes is not known"),
            std::string::npos);
  EXPECT_EQ(read_scaling_question({.network = "mine.json", .seconds = "0.5"}, {"", 64, {}, mine})
                .network->seconds(),
            0.5);
}

TEST(ScalingQuestion, WordsComeBeforeTheDocument) {
  const auto network = read_scaling_question(
      {.network = "vgg16", .ranks = "1..8", .efficiency = "0.9", .strategies = {"filter", "data"}},
      {"resnet50", 64, 0.8, {}});
  EXPECT_EQ(network.network->name, "vgg16");
  EXPECT_EQ(network.ranks.back(), 8);
  EXPECT_EQ(network.least(), 0.9);
  EXPECT_EQ(network.kinds, (std::vector<Parallelism>{Parallelism::data, Parallelism::filter}));
  const auto law = read_scaling_question({.model = "amdahl:0.9"}, {"resnet50", 80, 0.5, {}});
  EXPECT_FALSE(law.network);
  EXPECT_EQ(choose_ranks(law).ranks, 11);
}

TEST(ScalingQuestion, ALawIsFollowedDownToHalf) {
  EXPECT_EQ(choose_ranks(read_scaling_question({.model = "amdahl:0.9", .ranks = "1..512"}, {})).ranks, 11);
  EXPECT_EQ(choose_ranks(read_scaling_question({.model = "noop", .ranks = "1..512"}, {})).ranks, 512);
}

TEST(ScalingQuestion, AFitChoosesWithAnInterval) {
  const auto question = read_scaling_question(
      {.times = "1:142.24,2:104.44,4:87.12,6:73.03", .ranks = "1..64", .efficiency = "0.2"}, {});
  const RankChoice choice = choose_ranks(question);
  EXPECT_EQ(choice.ranks, 9);
  EXPECT_LE(choice.low, 9);
  EXPECT_GE(choice.high, 9);
  EXPECT_LT(choice.low, choice.high);
}

TEST(ScalingQuestion, TimesOfANetworkMeasureItsStepsAndLinks) {
  const auto question = read_scaling_question(
      {.network = "vgg16", .times = "1:0.265,2:0.30,4:0.323,8:0.461,16:0.465", .ranks = "512"}, {});
  EXPECT_NEAR(question.network->seconds() * 32, 0.265, 1e-12);
  const auto step = parallel_step(*question.network, question.terms, Parallelism::data, 512);
  EXPECT_NEAR(step.seconds() / 0.587, 0.875,
              0.005);  // measured: 0.587 s; the oracle's authors predict 0.68 of it
}

TEST(ScalingQuestion, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(question_refusal({}),
            "usage error: neither a network nor a model is named; --network resnet50|vgg16|alexnet, --model "
            "amdahl:0.9 or --times 1:142.24,2:104.44,4:87.12; or a document with optimisation.workload");
  EXPECT_EQ(question_refusal({.network = "resnet51"}),
            "error: unknown network 'resnet51'; there are: resnet50, vgg16, alexnet");
  EXPECT_EQ(question_refusal({.network = "vgg16", .model = "noop"}),
            "usage error: --model and a network do not go together; a model is of any program; --network "
            "computes with the network's layers");
  EXPECT_EQ(question_refusal({.model = "noop", .batch = "3"}),
            "usage error: --batch is of a network; --network names one");
  EXPECT_EQ(question_refusal({.model = "max", .times = "1:3,2:2,4:1"}),
            "usage error: --times cannot be fitted by the model 'max'; --model amdahl and --model gustafson "
            "can, without a value");
  EXPECT_EQ(question_refusal({.network = "vgg16", .times = "1:3,2:2", .seconds = "1"}),
            "usage error: --seconds and --times do not go together; both say how fast a rank is");
  EXPECT_EQ(question_refusal({.network = "vgg16", .ranks = "8..1"}).substr(0, 40),
            "error: --ranks: the range 8..1 is empty;");
  EXPECT_EQ(question_refusal({.network = "vgg16"}, {"", 2'000'000, {}}),
            "error: mpi_ranks: 2000000 ranks; the least is 1 and the most 1048576");
  EXPECT_EQ(question_refusal({.network = "vgg16", .efficiency = "1.5"}),
            "error: --efficiency: 1.5 is over 1");
  EXPECT_EQ(question_refusal({.network = "vgg16", .batch = "0"}),
            "error: --batch: '0' is not a number over 0");
  EXPECT_EQ(question_refusal({.network = "vgg16", .batch = "1.5"}),
            "error: --batch: '1.5' is not a whole number from 1 on");
  EXPECT_EQ(question_refusal({.network = "vgg16", .memory = "nan"}),
            "error: --memory: 'nan' is not a number over 0");
  EXPECT_EQ(question_refusal({.network = "vgg16", .samples = "1e16"}),
            "error: --samples: 1e16 is over 1e+15");
}

}  // namespace
}  // namespace kiln::testing
