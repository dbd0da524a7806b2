#include "factory/record/distinct_names.h"

#include <fmt/format.h>

namespace kiln {

void DistinctNames::add(const ImageRecord& image) {
  if (image.external() && !once_.insert(image.reference).second) again_.insert(image.reference);
}

std::string DistinctNames::operator()(const ImageRecord& image) const {
  return again_.contains(image.reference) ? fmt::format("{} ({})", image.name(), image.code) : image.name();
}

}  // namespace kiln
