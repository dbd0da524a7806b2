// A sorted map of texts in one string: for the many small maps that are kept long and read in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace kiln {

// Each member is the lengths of its name and its value, four bytes each, and their bytes. A std::map takes
// about 150 bytes more for each.
class PackedMap {
 public:
  using Map = std::map<std::string, std::string>;

  PackedMap() = default;
  // REQUIRES: names and values are shorter than 4 GiB.
  explicit PackedMap(const Map& members) {
    std::size_t size = 0;
    for (const auto& [name, value] : members) size += 2 * kLength + name.size() + value.size();
    bytes_.reserve(size);
    for (const auto& [name, value] : members) {
      append_length(name.size());
      append_length(value.size());
      bytes_.append(name).append(value);
    }
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::pair<std::string_view, std::string_view>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    explicit Iterator(std::string_view rest) : rest_(rest) { read(); }
    reference operator*() const { return member_; }
    pointer operator->() const { return &member_; }
    Iterator& operator++() {
      rest_.remove_prefix(2 * kLength + member_.first.size() + member_.second.size());
      read();
      return *this;
    }
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

   private:
    void read() {
      if (rest_.empty()) return;
      std::size_t name = length_at(0);
      member_ = {rest_.substr(2 * kLength, name), rest_.substr(2 * kLength + name, length_at(kLength))};
    }
    std::size_t length_at(std::size_t offset) const {
      std::uint32_t length = 0;
      std::memcpy(&length, rest_.data() + offset, kLength);
      return length;
    }

    std::string_view rest_;
    value_type member_;
  };

  Iterator begin() const { return Iterator(bytes_); }
  Iterator end() const { return Iterator({}); }
  Map map() const {
    Map members;
    for (const auto& [name, value] : *this) members.emplace_hint(members.end(), name, value);
    return members;
  }

 private:
  static constexpr std::size_t kLength = sizeof(std::uint32_t);

  void append_length(std::size_t size) {
    auto length = static_cast<std::uint32_t>(size);
    char bytes[kLength];
    std::memcpy(bytes, &length, kLength);
    bytes_.append(bytes, kLength);
  }

  std::string bytes_;
};

}  // namespace kiln
