#include "registry/scaling/network_draft.h"

#include <fmt/format.h>

namespace kiln {
namespace {

double product(std::initializer_list<std::int64_t> counts) {
  double all = 1;
  for (const std::int64_t count : counts) all *= static_cast<double>(count);
  return all;
}

}  // namespace

void NetworkDraft::convolution(std::int64_t filters, std::int64_t kernel, std::int64_t side_after) {
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

void NetworkDraft::pool(std::int64_t side_after) {
  add(next(fmt::format("pool{}", ++pools_), channels_, side_after), channels_, side_after);
}

void NetworkDraft::shortcut() {
  add(next(fmt::format("add{}", ++shortcuts_), channels_, side_), channels_, side_);
}

void NetworkDraft::dense(std::int64_t outputs) {
  NetworkLayer layer = next(fmt::format("fc{}", ++dense_), outputs, 1);
  layer.weights = layer.operations = product({channels_, side_, side_, outputs});
  layer.channels = channels_;
  layer.filters = outputs;
  add(std::move(layer), outputs, 1);
}

NetworkLayer NetworkDraft::next(std::string name, std::int64_t channels, std::int64_t side) const {
  NetworkLayer layer;
  layer.name = std::move(name);
  layer.input = product({channels_, side_, side_});
  layer.output = product({channels, side, side});
  return layer;
}

void NetworkDraft::add(NetworkLayer layer, std::int64_t channels, std::int64_t side) {
  network_.layers.push_back(std::move(layer));
  channels_ = channels;
  side_ = side;
}

}  // namespace kiln
