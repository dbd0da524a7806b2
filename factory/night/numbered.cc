#include "factory/night/numbered.h"

#include <algorithm>
#include <charconv>

namespace kiln {

std::vector<std::int64_t> numbers_in(const fs::path& folder, const FileSystem& files) {
  constexpr std::int64_t kMostNumber = 1'000'000'000'000;
  std::vector<std::int64_t> numbers;
  for (const std::string& name : files.list(folder)) {
    std::int64_t number = 0;
    auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool is_whole = problem == std::errc{} && end == name.data() + name.size();
    if (is_whole && number > 0 && number <= kMostNumber) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace kiln
