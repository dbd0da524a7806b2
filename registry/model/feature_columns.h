// Records as columns of numbers: which features can be used, why others cannot, and how near two records are.
// Pure.
#pragma once

#include <optional>
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
  // Squared: of amounts in their deviations, of words 1 for each that differs.
  double distance(const SpeedRecord& a, const SpeedRecord& b) const;

 private:
  void add(const ModelFeature& feature, std::span<const SpeedRecord> records);
  // Whether one of these columns says something that those before it do not.
  bool is_new(const std::vector<std::vector<double>>& candidates);

  std::vector<ModelColumn> columns_;
  std::vector<LeftOutFeature> left_out_;
  std::vector<std::vector<double>> basis_;  // orthonormal, of all columns so far: only while they are made
};

}  // namespace kiln
