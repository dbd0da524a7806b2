#include "image/state/name_set.h"

namespace kiln {

NameSet::NameSet(const std::vector<std::string>& sorted) {
  std::size_t size = 0;
  for (const std::string& name : sorted) size += name.size();
  bytes_.reserve(size);
  ends_.reserve(sorted.size());
  for (const std::string& name : sorted) add(name);
}

void NameSet::add(std::string_view name) {
  bytes_ += name;
  ends_.push_back(bytes_.size());
}

std::string_view NameSet::at(std::size_t index) const {
  std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

bool NameSet::contains(std::string_view name) const {
  std::size_t low = 0;
  for (std::size_t high = ends_.size(); low < high;) {
    std::size_t middle = low + (high - low) / 2;
    if (at(middle) < name)
      low = middle + 1;
    else
      high = middle;
  }
  return low < ends_.size() && at(low) == name;
}

}  // namespace kiln
