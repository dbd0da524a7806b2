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

// Texts one after the other in a string, each after its length: for many texts that are kept for long and
// read in order.
using PackedLength = std::uint32_t;  // in the machine's own order: never leaves the process
// Overhead of a text, in bytes.
inline constexpr std::size_t kPackedLength = sizeof(PackedLength);

// REQUIRES: less than 4 GiB.
inline void pack_number(std::string& out, std::size_t number) {
  auto value = static_cast<PackedLength>(number);
  char bytes[kPackedLength];
  std::memcpy(bytes, &value, kPackedLength);
  out.append(bytes, kPackedLength);
}

inline void pack_text(std::string& out, std::string_view text) {
  pack_number(out, text.size());
  out.append(text);
}

// Takes from the front of `rest`. REQUIRES: what is there was packed as that.
inline std::size_t take_number(std::string_view& rest) {
  PackedLength value = 0;
  std::memcpy(&value, rest.data(), kPackedLength);
  rest.remove_prefix(kPackedLength);
  return value;
}

inline std::string_view take_text(std::string_view& rest) {
  std::size_t size = take_number(rest);
  std::string_view text = rest.substr(0, size);
  rest.remove_prefix(size);
  return text;
}

// Name and value of each member, packed. A std::map takes about 150 bytes more for each.
class PackedMap {
 public:
  using Map = std::map<std::string, std::string>;

  PackedMap() = default;
  // REQUIRES: names and values are shorter than 4 GiB.
  explicit PackedMap(const Map& members) {
    std::size_t size = 0;
    for (const auto& [name, value] : members) size += 2 * kPackedLength + name.size() + value.size();
    bytes_.reserve(size);
    for (const auto& [name, value] : members) {
      pack_text(bytes_, name);
      pack_text(bytes_, value);
    }
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::pair<std::string_view, std::string_view>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    explicit Iterator(std::string_view rest) : rest_(rest), next_(rest) { read(); }
    reference operator*() const { return member_; }
    pointer operator->() const { return &member_; }
    Iterator& operator++() {
      rest_ = next_;
      read();
      return *this;
    }
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

   private:
    void read() {
      if (rest_.empty()) return;
      member_.first = take_text(next_);
      member_.second = take_text(next_);
    }

    std::string_view rest_;  // from this member on
    std::string_view next_;  // after it
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
  std::string bytes_;
};

}  // namespace kiln
