// The counts of a network's layers, from what each layer is. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "registry/scaling/network.h"

namespace kiln {

// Adds layers one after the other, each on the output of the one before. Sides are of square pictures, in
// pixels.
class NetworkDraft {
 public:
  NetworkDraft(Network network, std::int64_t channels, std::int64_t side)
      : network_(std::move(network)), channels_(channels), side_(side) {}

  void convolution(std::int64_t filters, std::int64_t kernel, std::int64_t side_after);
  void pool(std::int64_t side_after);
  void shortcut();  // adds an earlier output
  void dense(std::int64_t outputs);

  std::int64_t side() const { return side_; }  // of the last output
  const Network& network() const { return network_; }

 private:
  NetworkLayer next(std::string name, std::int64_t channels, std::int64_t side) const;
  void add(NetworkLayer layer, std::int64_t channels, std::int64_t side);

  Network network_;
  std::int64_t channels_, side_;
  int convolutions_ = 0, pools_ = 0, shortcuts_ = 0, dense_ = 0;
};

}  // namespace kiln
