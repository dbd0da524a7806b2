// The names of images for people: several mappings may have one reference, and then the code says which.
#pragma once

#include <set>
#include <string>

#include "factory/record/image_record.h"

namespace kiln {

class DistinctNames {
 public:
  void add(const ImageRecord& image);  // all of those that are shown together
  std::string operator()(const ImageRecord& image) const;

 private:
  std::set<std::string> once_, again_;  // references
};

}  // namespace kiln
