#include "registry/scaling/network_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/keys.h"
#include "registry/scaling/network_draft.h"

namespace kiln {
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
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
      layer.at("type").fail(fmt::format("'{}' is no type of a layer", type),
                            "convolution, pool, add or dense");
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
