// What was found in ELF files, kept by their bytes.
#pragma once

#include <optional>

#include "factory/base/cache_folder.h"
#include "factory/base/digest.h"
#include "factory/evidence/file_facts.h"

namespace kiln::evidence {

// Facts found before, by the digest of the file's bytes.
class FactsCache {
 public:
  virtual ~FactsCache() = default;
  virtual std::optional<FileFacts> find(const Digest& digest) = 0;
  virtual void keep(const Digest& digest, const FileFacts& facts) = 0;
};

// A file for each ELF file with at least kCachedCode bytes of code: less is scanned faster than read.
class FolderCache final : public FactsCache {
 public:
  static constexpr std::uint64_t kCachedCode = 4u << 20;
  explicit FolderCache(CacheFolder& folder) : folder_(folder) {}
  std::optional<FileFacts> find(const Digest& digest) override;
  void keep(const Digest& digest, const FileFacts& facts) override;

 private:
  CacheFolder& folder_;
};

}  // namespace kiln::evidence
