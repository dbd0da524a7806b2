#include "factory/app/index_names.h"

#include <fmt/format.h>

namespace kiln {

const IndexEntry& find_named(const std::vector<IndexEntry>& entries, const std::string& name) {
  std::vector<std::string> names;
  for (const IndexEntry& entry : entries) {
    bool same = entry.image.name() == name || entry.image.manifest.text() == name ||
                entry.image.repository + ":" + entry.image.immutable_tag == name ||
                (entry.image.external() && entry.image.code == name);
    if (same) return entry;
    names.push_back(entry.image.name());
    if (entry.image.external()) names.push_back(entry.image.code);
  }
  throw Error(ExitCode::no_match, "the index has no image '" + name + "'", did_you_mean(name, names));
}

std::vector<std::string> codes_of(const std::vector<IndexEntry>& entries, const ImageRecord& found,
                                  const std::string& asked) {
  std::vector<std::string> codes;
  if (!found.external() || asked == found.code) return codes;
  for (const IndexEntry& entry : entries)
    if (entry.image.bits() == found.bits()) codes.push_back(entry.image.code);
  if (codes.size() == 1) codes.clear();
  return codes;
}

SameBits same_bits(const std::vector<IndexEntry>& entries, const ImageRecord& named) {
  SameBits same;
  for (const IndexEntry& entry : entries) {
    if (entry.image.bits() != named.bits()) continue;
    same.identities.push_back(entry.image.identity());
    same.names += fmt::format("{}{}", same.names.empty() ? "" : ", ", entry.image.name());
    if (entry.image.external()) same.names += fmt::format(" ({})", entry.image.code);
  }
  return same;
}

}  // namespace kiln
