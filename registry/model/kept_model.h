// The performance model that an index keeps: the records that it learns from, and how it did in its check.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/record/image_record.h"
#include "registry/model/model_check.h"

namespace kiln {

// Of the model of these records. Throws as checked_model(), and Error(no_match) where it does not beat both
// guesses for an image that is left out: then no prediction may be used.
Json kept_model_json(const std::vector<SpeedRecord>& records, const std::string& made);

// A model that may be used.
class KeptModel {
 public:
  // Throws Error(input) with the place of what kept_model_json() does not write.
  explicit KeptModel(const JsonNode& node);

  // Of a step of this workload in an image without a GPU: its `no_data` where nothing is known.
  SpeedPrediction predict(const ImageRecord& image, const HostDescription& host,
                          const std::string& workload) const;
  std::string check_text() const;  // in a line

 private:
  SpeedModel model_;
  ModelCheck check_;
};

}  // namespace kiln
