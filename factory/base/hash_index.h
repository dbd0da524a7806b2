// A hash index over things that are kept elsewhere: it holds nothing but their numbers, eight bytes each at
// most.
#pragma once

#include <cstdint>
#include <vector>

namespace kiln {

// Open addressing with linear probing; never more than three quarters full. Numbers are below 2^32 - 1.
class HashIndex {
 public:
  using Number = std::uint32_t;
  static constexpr Number kNone = UINT32_MAX;

  // The number already there for which `is_same(number)` holds, kNone when there is none. Hashes have to be
  // well mixed in their low bits.
  template <typename IsSame>
  Number find(std::uint64_t hash, IsSame&& is_same) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = hash & mask(); slots_[at] != kNone; at = (at + 1) & mask())
      if (is_same(slots_[at])) return slots_[at];
    return kNone;
  }

  // REQUIRES: `find` found nothing for it. `hash_of(number)` is asked again for each when the index grows.
  template <typename HashOf>
  void insert(std::uint64_t hash, Number number, HashOf&& hash_of) {
    if (4 * (count_ + 1) > 3 * slots_.size()) grow(hash_of);
    put(hash, number);
    ++count_;
  }

 private:
  std::size_t mask() const { return slots_.size() - 1; }

  void put(std::uint64_t hash, Number number) {
    std::size_t at = hash & mask();
    while (slots_[at] != kNone) at = (at + 1) & mask();
    slots_[at] = number;
  }

  template <typename HashOf>
  void grow(HashOf&& hash_of) {
    std::vector<Number> old(slots_.empty() ? 64 : 2 * slots_.size(), kNone);
    old.swap(slots_);
    for (Number number : old)
      if (number != kNone) put(hash_of(number), number);
  }

  std::vector<Number> slots_;  // a power of two of them
  std::size_t count_ = 0;
};

// Mixes `value` into `hash` (the finishing steps of SplitMix64, Steele et al. 2014).
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) + 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 31);
}

}  // namespace kiln
