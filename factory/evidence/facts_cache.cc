#include "factory/evidence/facts_cache.h"

#include "factory/evidence/file_examiner.h"

namespace kiln::evidence {

std::optional<FileFacts> FolderCache::find(const Digest& digest) {
  const auto bytes = folder_.find("facts-" + digest.hex());
  return bytes ? content_from_bytes(*bytes).facts : std::nullopt;
}

void FolderCache::keep(const Digest& digest, const FileFacts& facts) {
  if (facts.code_bytes < kCachedCode) return;
  Content content;
  content.facts = facts;
  folder_.keep("facts-" + digest.hex(), to_bytes(content));
}

}  // namespace kiln::evidence
