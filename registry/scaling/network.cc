#include "registry/scaling/network.h"

#include <fmt/format.h>

#include <numeric>

#include "factory/base/error.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"

namespace kiln {

namespace {

double product(std::initializer_list<std::int64_t> counts) {
  double all = 1;
  for (const std::int64_t count : counts) all *= static_cast<double>(count);
  return all;
}

// The counts of a network's layers, from what each layer is: adds layers one after the other, each on the
// output of the one before. Sides are of square pictures, in pixels.
class NetworkDraft {
 public:
  NetworkDraft(Network network, std::int64_t channels, std::int64_t side)
      : network_(std::move(network)), channels_(channels), side_(side) {}

  void convolution(std::int64_t filters, std::int64_t kernel, std::int64_t side_after) {
    NetworkLayer layer = next(fmt::format("conv{}", ++convolutions_), filters, side_after);
    layer.weights = product({channels_, filters, kernel, kernel});
    layer.operations = layer.weights * product({side_after, side_after});
    const std::int64_t rim = (kernel - 1) / 2;
    layer.input_halo = product({rim, channels_, side_});
    layer.output_halo = product({rim, filters, side_after});
    layer.width = layer.height = side_after;
    layer.channels = channels_;
    layer.filters = filters;
    add(std::move(layer), filters, side_after);
  }
  void pool(std::int64_t side_after) {
    add(next(fmt::format("pool{}", ++pools_), channels_, side_after), channels_, side_after);
  }
  void shortcut() {  // adds an earlier output
    add(next(fmt::format("add{}", ++shortcuts_), channels_, side_), channels_, side_);
  }
  void dense(std::int64_t outputs) {
    NetworkLayer layer = next(fmt::format("fc{}", ++dense_), outputs, 1);
    layer.weights = layer.operations = product({channels_, side_, side_, outputs});
    layer.channels = channels_;
    layer.filters = outputs;
    add(std::move(layer), outputs, 1);
  }
  std::int64_t side() const { return side_; }  // of the last output
  const Network& network() const { return network_; }

 private:
  NetworkLayer next(std::string name, std::int64_t channels, std::int64_t side) const {
    NetworkLayer layer;
    layer.name = std::move(name);
    layer.input = product({channels_, side_, side_});
    layer.output = product({channels, side, side});
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

NetworkDraft imagenet_draft(std::string name, std::int64_t batch) {
  return {{std::move(name), "NVIDIA V100, Chainer", kImageNetSamples, batch, {}}, 3, 226};
}

Network timed(const NetworkDraft& draft, double seconds) {
  Network network = draft.network();
  set_seconds(network, seconds);
  return network;
}

Network resnet50() {
  NetworkDraft draft = imagenet_draft("resnet50", 64);
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
  return timed(draft, 0.003119502);
}

Network vgg16() {
  NetworkDraft draft = imagenet_draft("vgg16", 32);
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
  return timed(draft, 0.008245589);
}

Network alexnet() {
  NetworkDraft draft = imagenet_draft("alexnet", 512);
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
  return timed(draft, 0.000610938);
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
  throw Error(ExitCode::input, fmt::format("unknown network '{}'", name),
              fmt::format("there are: {}", fmt::join(network_names(), ", ")));
}

void set_seconds(Network& network, double seconds) {
  double operations = 0;
  for (const NetworkLayer& layer : network.layers) operations += layer.operations;
  for (NetworkLayer& layer : network.layers) layer.seconds = seconds * layer.operations / operations;
}

namespace {

// Products of these fit into a double exactly enough, and a step of such a network into a day.
constexpr std::int64_t kMostSide = 65'536, kMostChannels = 1'000'000, kMostKernel = 1'001,
                       kMostLayers = 100'000;

class NetworkReader {
 public:
  explicit NetworkReader(NetworkDraft draft) : draft_(std::move(draft)) {}

  void read(const JsonNode& layers) {
    for (const JsonNode& one : layers.items()) {
      if (++read_ > kMostLayers) one.fail(fmt::format("the network has more than {} layers", kMostLayers));
      if (one.is_object() && one.find("repeat"))
        read_repeated(one);
      else
        read_layer(one, one.at("type").string());
    }
  }

  const Network& network() const { return draft_.network(); }

 private:
  void read_repeated(const JsonNode& block) {
    block.allow_only(keys_of("network/block"));
    const std::int64_t times = block.at("repeat").integer(1, kMostLayers);
    const JsonNode layers = block.at("layers");
    if (layers.items().empty()) layers.fail("expected layers to repeat");
    for (std::int64_t i = 0; i < times; ++i) read(layers);
  }

  void read_layer(const JsonNode& layer, const std::string& type) {
    static const std::vector<std::string> kTypes = {"convolution", "pool", "add", "dense"};
    if (!contains(kTypes, type))
      layer.at("type").fail(fmt::format("unknown layer type '{}'", type), "convolution, pool, add or dense");
    layer.allow_only(keys_of("network/" + type));
    if (type == "convolution")
      draft_.convolution(layer.at("filters").integer(1, kMostChannels),
                         layer.at("kernel").integer(1, kMostKernel), side(layer));
    else if (type == "pool")
      draft_.pool(side(layer));
    else if (type == "add")
      draft_.shortcut();
    else
      draft_.dense(layer.at("outputs").integer(1, kMostChannels));
  }

  // Of the output; a layer that says none keeps the side of its input.
  std::int64_t side(const JsonNode& layer) const {
    const auto said = layer.find("side");
    return said ? said->integer(1, kMostSide) : draft_.side();
  }

  NetworkDraft draft_;
  std::int64_t read_ = 0;  // layers and blocks, repeated ones each time
};

double read_seconds(const JsonNode& node) {
  constexpr double kMost = 1e6;
  const double seconds = node.number();
  if (!(seconds > 0 && seconds <= kMost)) node.fail("expected the seconds of one sample, over 0");
  return seconds;
}

}  // namespace

Network read_network(const JsonNode& node) {
  node.allow_only(keys_of("network"));
  Network network;
  network.name = node.at("name").name();
  network.batch = node.at("batch").integer(1, 1'000'000'000);
  const auto samples = node.find("samples");
  network.samples = samples ? samples->integer(1, 1'000'000'000'000'000) : kImageNetSamples;
  network.measured = node.where().file;
  const JsonNode input = node.at("input");
  input.allow_only(keys_of("network/input"));
  NetworkReader reader({std::move(network), input.at("channels").integer(1, kMostChannels),
                        input.at("side").integer(1, kMostSide)});
  const JsonNode layers = node.at("layers");
  reader.read(layers);
  network = reader.network();
  if (!(network.weights() > 0)) layers.fail("no layer has weights", "convolution and dense layers have");
  if (const auto seconds = node.find("seconds")) set_seconds(network, read_seconds(*seconds));
  return network;
}

}  // namespace kiln
