#include "factory/oci/tar_sparse.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

[[noreturn]] void bad_map(const std::string& what) { throw Error(ExitCode::input, what); }

void check_count(std::uint64_t count, std::size_t most) {
  if (count > most) bad_map(fmt::format("has more than {} sparse regions", most));
}

std::uint64_t map_number(std::string_view text) {
  std::int64_t value = pax_number(text);
  if (value < 0) bad_map("has a damaged sparse map");
  return static_cast<std::uint64_t>(value);
}

std::vector<TarRegion> in_pairs(const std::vector<std::uint64_t>& numbers) {
  std::vector<TarRegion> regions(numbers.size() / 2);
  for (std::size_t i = 0; i < regions.size(); ++i) regions[i] = {numbers[2 * i], numbers[2 * i + 1]};
  return regions;
}

// Lines of numbers out of whole blocks.
class MapLines {
 public:
  explicit MapLines(const std::function<void(std::string&)>& next_block) : next_block_(next_block) {}
  std::uint64_t number() {
    constexpr std::size_t kMostDigits = 20;
    std::string digits;
    for (char c = next(); c != '\n'; c = next()) {
      digits += c;
      if (digits.size() > kMostDigits) bad_map("has a damaged sparse map");
    }
    return map_number(digits);
  }

 private:
  char next() {
    if (at_ == block_.size()) {
      next_block_(block_);
      at_ = 0;
    }
    return block_[at_++];
  }
  const std::function<void(std::string&)>& next_block_;
  std::string block_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<TarRegion> gnu_sparse_map(std::string block, const std::function<void(std::string&)>& next_block,
                                      std::size_t most) {
  constexpr std::size_t kNumber = 12;
  std::vector<TarRegion> regions;
  std::size_t from = 386;  // in the header; blocks behind it begin with the map
  std::size_t count = 4;
  while (true) {
    for (std::size_t i = 0; i < count && block[from + 2 * kNumber * i] != '\0'; ++i) {
      std::string_view pair = std::string_view(block).substr(from + 2 * kNumber * i, 2 * kNumber);
      std::int64_t offset = tar_number(pair.substr(0, kNumber));
      std::int64_t size = tar_number(pair.substr(kNumber));
      if (offset < 0 || size < 0) bad_map("has a damaged sparse map");
      regions.push_back({static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(size)});
    }
    check_count(regions.size(), most);
    if (block[from + 2 * kNumber * count] == '\0') return regions;
    next_block(block);
    from = 0;
    count = 21;
  }
}

std::vector<TarRegion> pax_sparse_map(const PaxRecords& records, std::size_t most) {
  auto count = records.find("GNU.sparse.numblocks");
  auto map = records.find("GNU.sparse.map");
  std::uint64_t expected = count == records.end() ? 0 : map_number(count->second);
  check_count(expected, most);
  std::vector<std::uint64_t> numbers;
  if (map != records.end() && !map->second.empty())
    for (std::string_view number : split(map->second, ',')) numbers.push_back(map_number(number));
  if (count == records.end() || numbers.size() != 2 * expected) bad_map("has a damaged sparse map");
  return in_pairs(numbers);
}

std::vector<TarRegion> content_sparse_map(const std::function<void(std::string&)>& next_block,
                                          std::size_t most) {
  MapLines lines(next_block);
  std::uint64_t count = lines.number();
  check_count(count, most);
  std::vector<std::uint64_t> numbers(2 * count);
  for (std::uint64_t& number : numbers) number = lines.number();
  return in_pairs(numbers);
}

void check_sparse_map(const std::vector<TarRegion>& regions, std::uint64_t size, std::uint64_t stored) {
  std::uint64_t end = 0;
  std::uint64_t sum = 0;
  for (const TarRegion& region : regions) {
    if (region.offset < end || region.offset > size || region.size > size - region.offset)
      bad_map("has sparse regions out of order or over its end");
    end = region.offset + region.size;
    sum += region.size;
  }
  if (sum != stored) bad_map(fmt::format("has {} bytes of sparse regions and {} of content", sum, stored));
}

}  // namespace kiln
