// A workload where other workloads were measured with the same image on the same host: predicted from its
// time elsewhere, with all of those as anchors (anchors.h). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "registry/model/anchors.h"

namespace kiln {

struct AnchoredPrediction {
  double seconds = 0;                   // of a step
  double low = 0, high = 0;             // covers nine in ten, if errors are as large as those of the anchors
  std::size_t anchors = 0;              // that were measured there
  std::string host, image;              // of the prediction
  std::string other_host, other_image;  // of the time elsewhere
  double elsewhere = 0;                 // seconds of a step there
  bool by_line = false;  // the ratio is linear in amounts and time; else it is the anchors' median
};

// For the one series of the question's host that has all words of the question. Without a host in the
// question, the word `host` names it. Returns nullopt if no series or several series fit, if the series has
// the workload, or if no other series has the workload and shares `least` others with it.
std::optional<AnchoredPrediction> predict_with_anchors(std::span<const SpeedRecord> records,
                                                       const SpeedRecord& question, std::size_t least);

}  // namespace kiln
