// Many names in order, in little more space than their bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

class NameSet {
 public:
  NameSet() = default;
  explicit NameSet(const std::vector<std::string>& sorted);
  void add(std::string_view name);  // REQUIRES: it comes after all that are there
  bool contains(std::string_view name) const;

 private:
  std::string_view at(std::size_t index) const;
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace kiln
