#include "image/state/state_names.h"

namespace kiln {

NameSet::NameSet(const std::vector<std::string>& sorted) {
  std::size_t size = 0;
  for (const std::string& name : sorted) size += name.size();
  bytes_.reserve(size);
  ends_.reserve(sorted.size());
  for (const std::string& name : sorted) {
    bytes_ += name;
    ends_.push_back(bytes_.size());
  }
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

bool StateNames::has(std::optional<NameSet>& names, const fs::path& file) {
  if (!names) names.emplace(files_->list(file.parent_path()));
  std::string_view path = file.native();
  return names->contains(path.substr(path.rfind('/') + 1));
}

bool StateNames::is_built(std::string_view record_name, const std::string& repository,
                          std::string_view immutable_tag) {
  if (!has(built_, state_->built(record_name))) return false;
  auto found = layouts_.find(repository);
  if (found == layouts_.end())
    found = layouts_.emplace(repository, NameSet(files_->list(state_->layouts(repository)))).first;
  return found->second.contains(immutable_tag);
}

}  // namespace kiln
