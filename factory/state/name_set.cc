#include "factory/state/name_set.h"

#include <algorithm>

namespace kiln {
namespace {

constexpr std::size_t kNamesOfBlock = 16;

std::uint8_t take_byte(std::string_view& rest) {
  const auto byte = static_cast<std::uint8_t>(rest.front());
  rest.remove_prefix(1);
  return byte;
}

std::string_view first_name(std::string_view block) {
  block.remove_prefix(1);  // it shares nothing
  const std::size_t size = take_byte(block);
  return block.substr(0, size);
}

bool has(std::string_view block, std::string_view name) {
  std::string one;
  while (!block.empty()) {
    one.resize(take_byte(block));
    const std::size_t size = take_byte(block);
    one += block.substr(0, size);
    block.remove_prefix(size);
    if (one >= name) return one == name;
  }
  return false;
}

}  // namespace

NameSet::NameSet(const std::vector<std::string>& sorted) {
  for (const std::string& name : sorted) add(name);
  bytes_.shrink_to_fit();
}

void NameSet::add(std::string_view name) {
  std::size_t shared = 0;
  if (size_++ % kNamesOfBlock == 0)
    begins_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  else
    shared = static_cast<std::size_t>(
        std::mismatch(name.begin(), name.end(), last_.begin(), last_.end()).first - name.begin());
  bytes_ += static_cast<char>(shared);
  bytes_ += static_cast<char>(name.size() - shared);
  bytes_ += name.substr(shared);
  last_ = name;
}

std::string_view NameSet::block(std::size_t index) const {
  const std::size_t end = index + 1 < begins_.size() ? begins_[index + 1] : bytes_.size();
  return std::string_view(bytes_).substr(begins_[index], end - begins_[index]);
}

bool NameSet::contains(std::string_view name) const {
  std::size_t low = 0;  // blocks before it begin with that name or one before it
  for (std::size_t high = begins_.size(); low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (first_name(block(middle)) <= name)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && has(block(low - 1), name);
}

}  // namespace kiln
