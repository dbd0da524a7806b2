#include "factory/evidence/facts_cache.h"

#include <nlohmann/json.hpp>

#include "factory/base/checksummed.h"

namespace kiln::evidence {

std::optional<FileFacts> FolderCache::find(const Digest& digest) {
  auto bytes = files_.read(file(digest));
  if (bytes) bytes = without_checksum(digest.hex(), std::move(*bytes));
  if (!bytes) return std::nullopt;
  try {
    JsonNode root = JsonDocument::parse(*bytes, file(digest).string()).root();
    if (root.at("version").string() != facts_version()) return std::nullopt;
    return file_facts_from_json(root.at("facts"));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void FolderCache::keep(const Digest& digest, const FileFacts& facts) {
  if (facts.code_bytes < kCachedCode) return;
  const std::string bytes = Json{{"version", facts_version()}, {"facts", to_json(facts)}}.dump();
  files_.write(file(digest), with_checksum(digest.hex(), bytes));
}

}  // namespace kiln::evidence
