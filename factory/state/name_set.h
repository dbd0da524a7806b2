// Many names in order, in less space than their bytes: of sixteen, the first is whole, and each other one has
// what it does not share with the one before it (front coding, as LevelDB's tables and Git's packs have it).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

class NameSet {
 public:
  NameSet() = default;
  explicit NameSet(const std::vector<std::string>& sorted);
  // REQUIRES: it comes after all that are there; it has at most 255 bytes, as a file's name.
  void add(std::string_view name);
  bool contains(std::string_view name) const;

 private:
  // The names of a block, each as u8 shared with the one before, u8 length of the rest, rest.
  std::string_view block(std::size_t index) const;
  std::string bytes_;
  std::vector<std::uint32_t> begins_;  // of the blocks
  std::string last_;                   // the name that was added last
  std::size_t size_ = 0;
};

}  // namespace kiln
