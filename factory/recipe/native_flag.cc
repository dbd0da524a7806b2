#include "factory/recipe/native_flag.h"

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {

std::string native_flag(std::string_view text) {
  const std::string lower = lower_case(text);
  constexpr std::string_view kSeparators = " \t,;'\"";
  for (std::size_t begin = lower.find_first_not_of(kSeparators); begin != std::string::npos;) {
    std::size_t end = std::min(lower.find_first_of(kSeparators, begin), lower.size());
    std::string_view word = std::string_view(lower).substr(begin, end - begin);
    if (word.ends_with("=native") || word.ends_with("xhost") || word.ends_with("tp=host"))
      return std::string(text.substr(begin, end - begin));
    begin = lower.find_first_not_of(kSeparators, end);
  }
  return "";
}

}  // namespace kiln
