#include "registry/scaling/network.h"

#include <fmt/format.h>

#include <numeric>

#include "factory/base/error.h"

namespace kiln {
namespace {

// Adds layers one after the other, each on the output of the one before.
class NetworkDraft {
 public:
  NetworkDraft(std::string name, std::int64_t batch, std::int64_t side) : channels_(3), side_(side) {
    network_.name = std::move(name);
    network_.measured = "NVIDIA V100, Chainer";
    network_.samples = 1'280'000;
    network_.batch = batch;
  }

  void convolution(std::int64_t filters, std::int64_t kernel, std::int64_t side_after) {
    NetworkLayer layer = next(fmt::format("conv{}", ++convolutions_), filters, side_after);
    const double weights = static_cast<double>(channels_ * filters * kernel * kernel);
    layer.weights = weights;
    layer.operations = weights * static_cast<double>(side_after * side_after);
    const std::int64_t half_kernel = (kernel - 1) / 2;
    const auto rim = static_cast<double>(half_kernel);
    layer.input_halo = rim * static_cast<double>(channels_ * side_);
    layer.output_halo = rim * static_cast<double>(filters * side_after);
    layer.width = layer.height = side_after;
    layer.channels = channels_;
    layer.filters = filters;
    add(std::move(layer), filters, side_after);
  }

  void pool(std::int64_t side_after) {
    NetworkLayer layer = next(fmt::format("pool{}", ++pools_), channels_, side_after);
    add(std::move(layer), channels_, side_after);
  }

  void shortcut() { add(next(fmt::format("add{}", ++shortcuts_), channels_, side_), channels_, side_); }

  void dense(std::int64_t outputs) {
    NetworkLayer layer = next(fmt::format("fc{}", ++dense_), outputs, 1);
    layer.weights = layer.operations = static_cast<double>(channels_ * side_ * side_ * outputs);
    layer.channels = channels_;
    layer.filters = outputs;
    add(std::move(layer), outputs, 1);
  }

  Network finish(double seconds) {
    set_seconds(network_, seconds);
    return std::move(network_);
  }

 private:
  NetworkLayer next(std::string name, std::int64_t channels, std::int64_t side) const {
    NetworkLayer layer;
    layer.name = std::move(name);
    layer.input = static_cast<double>(channels_ * side_ * side_);
    layer.output = static_cast<double>(channels * side * side);
    return layer;
  }

  void add(NetworkLayer layer, std::int64_t channels, std::int64_t side) {
    network_.layers.push_back(std::move(layer));
    channels_ = channels;
    side_ = side;
  }

  Network network_;
  std::int64_t channels_, side_;
  int convolutions_ = 0, pools_ = 0, shortcuts_ = 0, dense_ = 0;
};

Network resnet50() {
  NetworkDraft draft("resnet50", 64, 226);
  draft.convolution(64, 7, 113);
  draft.pool(56);
  struct Stage {
    std::int64_t filters, side;
    int blocks;
  };
  for (const Stage& stage : {Stage{64, 56, 3}, Stage{128, 28, 4}, Stage{256, 14, 6}, Stage{512, 7, 3}})
    for (int block = 0; block < stage.blocks; ++block) {
      draft.convolution(stage.filters, 1, stage.side);
      draft.convolution(stage.filters, 3, stage.side);
      draft.convolution(4 * stage.filters, 1, stage.side);
      draft.shortcut();
    }
  draft.pool(1);
  draft.dense(1000);
  return draft.finish(0.003119502);
}

Network vgg16() {
  NetworkDraft draft("vgg16", 32, 226);
  struct Stage {
    std::int64_t filters, side;
    int convolutions;
  };
  for (const Stage& stage :
       {Stage{64, 226, 2}, Stage{128, 113, 2}, Stage{256, 57, 3}, Stage{512, 29, 3}, Stage{512, 15, 3}}) {
    for (int i = 0; i < stage.convolutions; ++i) draft.convolution(stage.filters, 3, stage.side);
    draft.pool((stage.side + 1) / 2);
  }
  draft.dense(4096);
  draft.dense(4096);
  draft.dense(1000);
  return draft.finish(0.008245589);
}

Network alexnet() {
  NetworkDraft draft("alexnet", 512, 226);
  draft.convolution(96, 11, 54);
  draft.pool(27);
  draft.convolution(256, 5, 27);
  draft.pool(13);
  draft.convolution(384, 3, 13);
  draft.convolution(384, 3, 13);
  draft.convolution(256, 3, 13);
  draft.pool(6);
  draft.dense(4096);
  draft.dense(4096);
  draft.dense(1000);
  return draft.finish(0.000610938);
}

}  // namespace

double Network::weights() const {
  return std::accumulate(layers.begin(), layers.end(), 0.0,
                         [](double sum, const NetworkLayer& layer) { return sum + layer.weights; });
}

double Network::seconds() const {
  return std::accumulate(layers.begin(), layers.end(), 0.0,
                         [](double sum, const NetworkLayer& layer) { return sum + layer.seconds; });
}

std::vector<std::string> network_names() { return {"resnet50", "vgg16", "alexnet"}; }

Network network_named(std::string_view name) {
  for (Network (*make)() : {resnet50, vgg16, alexnet}) {
    Network network = make();
    if (name == network.name) return network;
  }
  throw Error(ExitCode::input, fmt::format("there is no network '{}'", name),
              fmt::format("there are: {}", fmt::join(network_names(), ", ")));
}

void set_seconds(Network& network, double seconds) {
  double operations = 0;
  for (const NetworkLayer& layer : network.layers) operations += layer.operations;
  for (NetworkLayer& layer : network.layers) layer.seconds = seconds * layer.operations / operations;
}

}  // namespace kiln
