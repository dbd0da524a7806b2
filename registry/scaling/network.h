// A neural network as the oracle of parallel training needs it: what each layer reads, keeps and writes, and
// how long it computes. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

// Counts are of numbers, not bytes; those of input and output are of one sample.
struct NetworkLayer {
  std::string name;
  double input = 0, output = 0, weights = 0;
  double operations = 0;                   // multiplications of one sample, forward
  double input_halo = 0, output_halo = 0;  // that a neighbour in space needs of this layer
  std::int64_t width = 0, height = 0;      // of the output; 0: the layer is not cut in space
  std::int64_t channels = 0, filters = 0;  // 0: the layer has no weights
  double seconds = 0;                      // forward and backward of one sample
};

inline constexpr std::int64_t kImageNetSamples = 1'280'000;  // as Kahira and others count them

struct Network {
  std::string name;
  std::string measured;      // on what its seconds were measured
  std::int64_t samples = 0;  // of an epoch
  std::int64_t batch = 0;    // of each replica, as its authors trained it
  std::vector<NetworkLayer> layers;
  double weights() const;
  double seconds() const;  // forward and backward of one sample
};

std::vector<std::string> network_names();

// ResNet-50, VGG-16 and AlexNet of ImageNet, 226 x 226, with the times of a sample that Kahira and others
// measured on a V100 ("An Oracle for Guiding Large-Scale Model/Hybrid Parallel Training of Convolutional
// Neural Networks", HPDC 2021). ResNet-50 has no weights in its shortcuts there. Throws Error(input).
Network network_named(std::string_view name);

// The same network with another time of a sample, divided over the layers by their operations.
void set_seconds(Network& network, double seconds);

// A user's network, from a JSON file (docs/formats/files.md). Pure.

// Without "seconds", the layers' times are 0: --seconds or --times gives them. Throws Error(input).
Network read_network(const JsonNode& node);

}  // namespace kiln
