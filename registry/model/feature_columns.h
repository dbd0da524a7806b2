// Records as columns of numbers: which features can be used, why others cannot, and how near two records are.
// Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "registry/model/speed_record.h"

namespace kiln {

struct ModelColumn {
  std::string feature;
  std::string level;           // of a word; "" of an amount
  double centre = 0;           // of the logarithm, or share of the records that have the level
  double width = 1;            // standard deviation, of an amount
  double least = 0, most = 0;  // of an amount, as it was seen
};

struct LeftOutFeature {
  std::string name;
  std::string why;  // "is the same in all records: 2"
};

// Where a record lies among the others.
struct ModelPoint {
  std::vector<double> amounts;  // logarithms in deviations, of each column that is an amount; NaN: not known
  std::vector<int> words;       // the level of each word in use; -1: it was never seen
};

// Squared: of amounts in their deviations, of words 1 for each that differs. REQUIRES: points of one
// FeatureColumns.
double distance_of(const ModelPoint& a, const ModelPoint& b);

class FeatureColumns {
 public:
  // REQUIRES: records is not empty.
  explicit FeatureColumns(std::span<const SpeedRecord> records);

  const std::vector<ModelColumn>& columns() const { return columns_; }
  const std::vector<LeftOutFeature>& left_out() const { return left_out_; }

  // 0 is the average of all records, and of a word that was never seen. REQUIRES: no_data() is empty.
  std::vector<double> values(const SpeedRecord& record) const;
  // Why nothing is known of such a record: what it lacks, or has that was never seen. "": something is.
  std::string no_data(const SpeedRecord& record) const;
  // Words that were never seen, for which the average stands: "version 'pytorch 2.9'".
  std::vector<std::string> unseen(const SpeedRecord& record) const;
  ModelPoint point(const SpeedRecord& record) const;
  // Words that have no column and count in the distance (ModelFeature::kin).
  std::vector<std::string> kin() const;

 private:
  struct WordLevels {
    std::string feature;
    bool kin = false;
    std::vector<std::string> levels;  // in the order of their columns
    // By its place in `levels`; -1: it was never seen.
    int level_of(const SpeedRecord& record) const;
  };

  void add(const ModelFeature& feature, std::span<const SpeedRecord> records);
  void add_kin(const ModelFeature& feature, std::span<const SpeedRecord> records);
  // Whether one of these columns says something that those before it do not.
  bool is_new(const std::vector<std::vector<double>>& candidates);

  std::vector<ModelColumn> columns_;
  std::vector<WordLevels> words_;  // in the order of their columns, those without columns among them
  std::vector<LeftOutFeature> left_out_;
  std::vector<std::vector<double>> basis_;  // orthonormal, of all columns so far: only while they are made
};

}  // namespace kiln
