#include "registry/scaling/links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "registry/scaling/parallel_step.h"
#include "support/input_errors.h"

namespace kiln::testing {
namespace {

TEST(Links, RingsCostWhatTheirStepsCost) {
  const Link link{8, 1e-3, 1e9};
  EXPECT_DOUBLE_EQ(link.all_gather(4, 4e9).latency, 3e-3);
  EXPECT_DOUBLE_EQ(link.all_gather(4, 4e9).transfer, 3);
  EXPECT_DOUBLE_EQ(link.all_reduce(4, 4e9).seconds(), 6.006);
  EXPECT_EQ(link.all_reduce(1, 4e9).seconds(), 0);
}

TEST(Links, OneLinkForEachNumberOfRanks) {
  const Links links = abci_links();
  EXPECT_EQ(link_for(links, 4).bandwidth, 50e9);
  EXPECT_EQ(link_for(links, 5).latency, 30.31e-6);
  EXPECT_EQ(link_for(links, 137).latency, 30.98e-6);
  const Links own = read_links("4:9e-6:50e9, 512:30e-6:12.5e9", "--links");
  EXPECT_EQ(link_for(own, 4096).bandwidth, 12.5e9);
}

TEST(Links, RefusesLinksThatNoMachineHas) {
  auto refusal = [](const std::string& text) { return input_error([&] { read_links(text, "--links"); }); };
  EXPECT_EQ(
      refusal("4:9e-6"),
      "error: --links: '4:9e-6' is not RANKS:SECONDS:BYTES_PER_SECOND; write 4:9e-6:50e9,512:30e-6:12.5e9");
  EXPECT_EQ(refusal("4:30:50e9"),
            "error: --links: a latency of 30 s; the latency is in seconds: 30e-6 is 30 microseconds");
  EXPECT_EQ(refusal("4:9e-6:100"),
            "error: --links: a bandwidth of 100 bytes per second; 12.5e9 is 100 Gbit/s");
  EXPECT_EQ(refusal("4:nan:50e9"), "error: --links: 'nan' is not a number over 0");
  EXPECT_EQ(refusal("8:9e-6:50e9,4:9e-6:50e9"),
            "error: --links: 4 ranks follow 8; name the links from the fewest ranks to the most");
  const auto alone = read_timed_runs("1:0.2", "--times");
  EXPECT_EQ(input_error([&] { fit_links(abci_links(), alone, 1e6); }),
            "error: the times are of one rank only: a link joins at least two");
}

// Seconds of an iteration on ABCI's V100, input and output included, at 1, 2, 4 … ranks
// (github.com/ankahira/paraDL: facts). Fitted on up to 16 ranks, held against 64 to 512.
std::vector<double> ratios(const std::string& name, const std::string& times) {
  const auto runs = read_timed_runs(times, "times");
  const auto until =
      std::find_if(runs.begin(), runs.end(), [](const TimedRun& run) { return run.ranks > 16; });
  const double bytes = 4 * network_named(name).weights();
  const Links links = fit_links(abci_links(), {runs.begin(), until}, bytes);
  std::vector<double> ratios;
  for (auto run = until; run != runs.end(); ++run)
    if (run->ranks >= 64 && run->ranks <= 512)
      ratios.push_back(
          (runs.front().seconds + link_for(links, run->ranks).all_reduce(run->ranks, bytes).seconds()) /
          run->seconds);
  return ratios;
}

// The oracle's authors predict 0.75, 0.73, 0.73 and 0.69 of the measured: 0.68 at 512.
TEST(Links, PredictsVgg16Beyond16RanksBetterThanTheOraclesAuthors) {
  const auto found = ratios(
      "vgg16", "1:0.265,2:0.30,4:0.323,8:0.461,16:0.465,32:0.492,64:0.517,128:0.521,256:0.558,512:0.587");
  const std::vector<double> authors = {0.73, 0.73, 0.69, 0.68};
  ASSERT_EQ(found.size(), authors.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_LT(std::abs(1 - found[i]), 1 - authors[i]) << i;
    EXPECT_GT(found[i], 0.82) << i;
  }
}

// From 128 ranks on the measured times of ResNet-50 grow threefold, and fall again at 1,024, which no ring
// explains. The prediction is far off there, though less than the authors' own.
TEST(Links, PredictsResnet50LessWrongThanTheOraclesAuthors) {
  const auto found = ratios("resnet50",
                            "1:0.191,2:0.204,4:0.194,8:0.264,16:0.308,32:0.233,64:0.261,128:0.465,256:0.679,"
                            "512:0.80,1024:0.377");
  const std::vector<double> measured = {0.261, 0.465, 0.679, 0.80}, expected = {1.13, 0.64, 0.44, 0.37};
  ASSERT_EQ(found.size(), measured.size());
  const Network network = network_named("resnet50");
  TrainingTerms terms;
  terms.samples = network.samples;
  terms.batch = network.batch;
  std::int64_t ranks = 64;
  for (std::size_t i = 0; i < found.size(); ++i, ranks *= 2) {
    const double authors = parallel_step(network, terms, Parallelism::data, ranks).seconds() / measured[i];
    EXPECT_LT(std::abs(1 - found[i]), std::abs(1 - authors)) << ranks;
    EXPECT_NEAR(found[i], expected[i], 0.06) << ranks;
  }
}

}  // namespace
}  // namespace kiln::testing
