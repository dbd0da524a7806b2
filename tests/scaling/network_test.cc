#include "registry/scaling/network.h"

#include <gtest/gtest.h>

#include "support/input_errors.h"

namespace kiln::testing {
namespace {

Network network_of(const std::string& text) {
  return read_network(JsonDocument::parse(text, "net.json").root());
}

// ResNet-50 as its papers draw it, with the blocks of each stage repeated.
const char* kResnet50 =
    R"({"name": "mine", "input": {"channels": 3, "side": 226}, "batch": 64, "seconds": 0.003119502,
  "layers": [{"type": "convolution", "filters": 64, "kernel": 7, "side": 113}, {"type": "pool", "side": 56},
  {"repeat": 3, "layers": [{"type": "convolution", "filters": 64, "kernel": 1}, {"type": "convolution", "filters": 64, "kernel": 3},
    {"type": "convolution", "filters": 256, "kernel": 1}, {"type": "add"}]},
  {"repeat": 4, "layers": [{"type": "convolution", "filters": 128, "kernel": 1, "side": 28},
    {"type": "convolution", "filters": 128, "kernel": 3}, {"type": "convolution", "filters": 512, "kernel": 1}, {"type": "add"}]},
  {"repeat": 6, "layers": [{"type": "convolution", "filters": 256, "kernel": 1, "side": 14},
    {"type": "convolution", "filters": 256, "kernel": 3}, {"type": "convolution", "filters": 1024, "kernel": 1}, {"type": "add"}]},
  {"repeat": 3, "layers": [{"type": "convolution", "filters": 512, "kernel": 1, "side": 7},
    {"type": "convolution", "filters": 512, "kernel": 3}, {"type": "convolution", "filters": 2048, "kernel": 1}, {"type": "add"}]},
  {"type": "pool", "side": 1}, {"type": "dense", "outputs": 1000}]})";

TEST(NetworkFile, OfAKnownNetworkIsThatNetwork) {
  const Network mine = network_of(kResnet50), known = network_named("resnet50");
  EXPECT_EQ(mine.name, "mine");
  EXPECT_EQ(mine.measured, "net.json");
  EXPECT_EQ(mine.batch, known.batch);
  EXPECT_EQ(mine.samples, known.samples);
  ASSERT_EQ(mine.layers.size(), known.layers.size());
  for (std::size_t i = 0; i < mine.layers.size(); ++i) {
    const NetworkLayer &a = mine.layers[i], &b = known.layers[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.input, b.input) << a.name;
    EXPECT_EQ(a.output, b.output) << a.name;
    EXPECT_EQ(a.weights, b.weights) << a.name;
    EXPECT_EQ(a.operations, b.operations) << a.name;
    EXPECT_EQ(a.input_halo, b.input_halo) << a.name;
    EXPECT_EQ(a.output_halo, b.output_halo) << a.name;
    EXPECT_EQ(a.seconds, b.seconds) << a.name;
    EXPECT_EQ(a.filters, b.filters) << a.name;
  }
}

std::string network_with(const std::string& layers, const std::string& more = "") {
  return R"({"name": "n", "input": {"channels": 3, "side": 32}, "batch": 8, )" + more + R"("layers": [)" +
         layers + "]}";
}

TEST(NetworkFile, WithoutSecondsTheTimesAreToBeGiven) {
  EXPECT_EQ(network_of(network_with(R"({"type": "dense", "outputs": 10})")).seconds(), 0);
}

TEST(NetworkFile, RefusesWhatIsNoNetwork) {
  auto refusal = [](const std::string& layers, const std::string& more = "") {
    return input_error([&] { network_of(network_with(layers, more)); });
  };
  const std::string dense = R"({"type": "dense", "outputs": 10})";
  EXPECT_NE(refusal("").find("no layer has weights (at /layers)"), std::string::npos) << refusal("");
  EXPECT_NE(refusal(R"({"type": "attention"})").find("unknown layer type 'attention' (at /layers/0/type)"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"type": "pool", "filters": 3})").find("filters"), std::string::npos);
  EXPECT_NE(refusal(R"({"type": "convolution", "filters": 0, "kernel": 3})").find("/layers/0/filters"),
            std::string::npos);
  EXPECT_NE(refusal(dense, R"("seconds": 0, )").find("expected the seconds of one sample"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"repeat": 3, "layers": []})").find("expected layers to repeat"), std::string::npos);
}

// Blocks in blocks would take years.
TEST(NetworkFile, CountsRepeatedLayers) {
  std::string layers = R"({"type": "add"})";
  for (int i = 0; i < 5; ++i) layers = R"({"repeat": 1000, "layers": [)" + layers + "]}";
  const std::string error = input_error([&] { network_of(network_with(layers)); });
  EXPECT_NE(error.find("the network has more than 100000 layers"), std::string::npos) << error;
}

}  // namespace
}  // namespace kiln::testing
