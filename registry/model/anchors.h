// The times of workloads on a host or in an image where only a few of them were measured, the anchors, from
// their times elsewhere. Pure and deterministic.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "registry/model/speed_record.h"

namespace kiln {

// A prediction needs as many anchors: with fewer, one strange anchor decides.
inline constexpr std::size_t kFewestAnchors = 5;

// The records of one image on one host, by workload, each workload once. Never empty.
struct SpeedSeries {
  std::string host, image;
  std::vector<SpeedRecord> records;
};

// By host and image. Of a workload with several records the first stays.
std::vector<SpeedSeries> speed_series(std::span<const SpeedRecord> records);

// Workloads of two series: known[i] and there[i] are of one workload.
struct SeriesPair {
  std::vector<SpeedRecord> known;  // elsewhere
  std::vector<SpeedRecord> there;  // where only the anchors count as measured
};

// `there` with each of `others` that shares at least `least` workloads with it and of these the most words
// (device, compilers, precision, …), then the most workloads. All pairs are of the workloads of the first.
// Empty if no series shares enough.
std::vector<SeriesPair> nearest_series(const SpeedSeries& there, std::span<const SpeedSeries> others,
                                       std::size_t least);

// The pair whose anchors predict each other best; the first of equals. `anchors` are places in all pairs.
// REQUIRES: neither is empty.
const SeriesPair& best_pair(const std::vector<SeriesPair>& pairs, const std::vector<std::size_t>& anchors);

// Workloads that are near to all others in their amounts and their time of a sample: the places of `count` of
// them, or of all, in the order in which they say the most.
std::vector<std::size_t> choose_anchors(const std::vector<SpeedRecord>& known, std::size_t count);

struct AnchoredTime {
  double seconds = 0;    // of a step: the prediction
  double linear = 0;     // by the linear ratio alone
  double elsewhere = 0;  // as the other series has it
  double by_median = 0;  // that, times the anchors' median ratio
  bool by_line = false;  // the prediction is by the linear ratio, and not by the median one
};

// The logarithm of the ratio of both series, by the time of a sample: the median of the anchors, or linear in
// amounts and time with what the anchors nearby differ from it. Which of the two is used depends on how well
// each predicts an anchor from the others.
class AnchoredModel {
 public:
  // REQUIRES: `anchors` are places in both; at least one; all times and batches are over 0.
  AnchoredModel(const SeriesPair& pair, std::vector<std::size_t> anchors);

  AnchoredTime predict(std::size_t place) const;  // of a place of the pair
  // How far an anchor is off that the others predict: the mean size of the logarithm. 0 for a single anchor.
  double error() const { return error_; }

 private:
  using Row = std::vector<double>;
  struct Line {
    Row centre, coefficients;
    double mean = 0;
    double at(const Row& row) const;
  };
  Line fit(std::span<const std::size_t> anchors) const;
  // How far an anchor is off that the others predict, as a logarithm, on average.
  double error_without_each(bool by_line) const;

  const SeriesPair& pair_;
  std::vector<std::size_t> anchors_;
  std::vector<Row> rows_;       // of each workload
  std::vector<double> ratios_;  // of each anchor
  Line line_;
  double median_ = 0, error_ = 0;
  bool is_linear_ = false;
};

// A workload where other workloads were measured with the same image on the same host: predicted from its
// time elsewhere, with all of those as anchors. Pure.
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
