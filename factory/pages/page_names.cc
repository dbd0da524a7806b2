#include "factory/pages/page_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/digest.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kMostWord = 120;  // bytes; file systems have 255, and the ending comes behind
constexpr std::size_t kMostKept = 48;   // of a name that is not a word

bool is_plain(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-'; }

}  // namespace

std::string file_word(std::string_view name) {
  const bool is_word = !name.empty() && name.size() <= kMostWord && name.front() != '.' &&
                       name.front() != '-' && std::all_of(name.begin(), name.end(), is_plain);
  if (is_word) return std::string(name);
  std::string kept;
  for (char c : name.substr(0, kMostKept)) kept += is_plain(lower_case(c)) ? lower_case(c) : '_';
  if (kept.empty() || kept.front() == '.' || kept.front() == '-') kept.insert(0, "_");
  return kept + "~" + Digest::of(name).hex().substr(0, 12);
}

std::string image_path(const ImageRecord& image) {
  if (image.external()) return fmt::format("mappings/{}.html", file_word(image.code));
  return fmt::format("images/{}/{}.html", file_word(image.repository), file_word(image.tag));
}

std::string night_path(std::string_view matrix, std::int64_t number) {
  return fmt::format("nights/{}/{}.html", file_word(matrix), number);
}

std::string way_up(std::string_view path) {
  std::string up;
  for (char c : path)
    if (c == '/') up += "../";
  return up;
}

PageNames::PageNames(const std::vector<IndexEntry>& entries) {
  for (const IndexEntry& entry : entries) names_.add(entry.image);
}

}  // namespace kiln
