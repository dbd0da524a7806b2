#include "registry/scaling/network.h"

#include <fmt/format.h>

#include <numeric>

#include "factory/base/error.h"
#include "registry/scaling/network_draft.h"

namespace kiln {
namespace {

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
  throw Error(ExitCode::input, fmt::format("there is no network '{}'", name),
              fmt::format("there are: {}", fmt::join(network_names(), ", ")));
}

void set_seconds(Network& network, double seconds) {
  double operations = 0;
  for (const NetworkLayer& layer : network.layers) operations += layer.operations;
  for (NetworkLayer& layer : network.layers) layer.seconds = seconds * layer.operations / operations;
}

}  // namespace kiln
