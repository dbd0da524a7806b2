// Measures how well the model predicts unseen speeds, in comparison with two guesses without a model. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "registry/model/speed_model.h"

namespace kiln {

// The kinds of items that are left out, one after the other.
enum class LeftOut { image, workload, host };

// Errors are medians, as parts of the measured time: 0.1 is a tenth too much or too little.
struct ModelCheck {
  LeftOut left_out = LeftOut::image;
  std::string skipped;  // why nothing was checked; nothing else is set then
  // Of each series that were measured all the same: the most and the fewest; see check_with_anchors().
  std::size_t anchors = 0, fewest_anchors = 0;
  std::size_t groups = 0, predicted = 0, no_data = 0;
  double model = 0;    // trend and neighbours
  double linear = 0;   // the trend alone
  double nearest = 0;  // the time of the nearest record that was not left out
  double median = 0;   // of the records of the same framework and workload, of what is left of these
  std::size_t chosen = 0, questions = 0;  // of images: how often the fastest of a workload and host is found
  double worst = 0;                       // of the other times, how much slower the chosen image is at most
  std::vector<double> errors;             // of each prediction, as logarithms
  // Whether predictions may be used: they are nearer than both other ways.
  bool beats_both() const { return skipped.empty() && predicted > 0 && model < nearest && model < median; }
};

// At most 40 models are fitted: of more groups, several are left out together. A network with several input
// sizes ("name@224") is left out with all of them. Throws as SpeedModel does.
ModelCheck check_model(std::span<const SpeedRecord> records, LeftOut left_out);

// Predicts images or hosts, each from `anchors` workloads that were measured there and from another series
// (anchors.h) that is not left out: the one that shares the most with it. `linear` is the anchors' ratio
// without their neighbours, `nearest` the time of the same workload in the other series, `median` that time
// multiplied by the median ratio of the anchors. At least as many workloads are predicted as are anchors: of
// a series that shares fewer than 2 * anchors workloads with every other, half of the shared ones are
// anchors. Series that share fewer than 2 * kFewestAnchors with every other are without data.
ModelCheck check_with_anchors(std::span<const SpeedRecord> records, LeftOut left_out, std::size_t anchors);

// The model with its intervals.
struct CheckedModel {
  SpeedModel model;
  std::vector<ModelCheck> checks;
};
CheckedModel checked_model(const std::vector<SpeedRecord>& records);

// "without it: median error 9.1 % (nearest 13.0 %, framework's median 45.0 %): used".
std::string text_of(const ModelCheck& check);
Json to_json(const ModelCheck& check);

}  // namespace kiln
