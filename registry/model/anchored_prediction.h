// A workload where other workloads were measured with the same image on the same host: predicted from its
// time elsewhere, with all of those as anchors (anchors.h). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "registry/model/anchors.h"

namespace kiln {

struct AnchoredPrediction {
  double seconds = 0;        // of a step
  double low = 0, high = 0;  // covers nine in ten, if errors are as large as those of the anchors
  std::size_t anchors = 0;   // that were measured there
  std::string host, image;   // where the time elsewhere was measured
  bool other_host = false;   // that is another host; else it is the same one with another image
  double elsewhere = 0;      // seconds of a step there
  bool by_line = false;      // the ratio is linear in amounts and time; else it is the anchors' median
};

// The one series whose words are those of the question, as far as both say them; then the workload of the
// question is not in it. nullopt: there is none, there are several, it has fewer than `least` anchors, or no
// other series shares `least` of them and has the workload.
std::optional<AnchoredPrediction> predict_with_anchors(std::span<const SpeedRecord> records,
                                                       const SpeedRecord& question, std::size_t least);

}  // namespace kiln
