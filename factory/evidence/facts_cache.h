// What was found in ELF files, kept by their bytes.
#pragma once

#include <optional>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/evidence/file_facts.h"

namespace kiln::evidence {

// Facts found before, by the digest of the file's bytes.
class FactsCache {
 public:
  virtual ~FactsCache() = default;
  virtual std::optional<FileFacts> find(const Digest& digest) = 0;
  virtual void keep(const Digest& digest, const FileFacts& facts) = 0;
};

// A cache in a folder, one file for each ELF file with at least kCachedCode bytes of code: less is scanned
// faster than read. Damaged and older files are as good as absent.
class FolderCache final : public FactsCache {
 public:
  static constexpr std::uint64_t kCachedCode = 4u << 20;
  FolderCache(fs::path folder, FileSystem& files) : folder_(std::move(folder)), files_(files) {}
  std::optional<FileFacts> find(const Digest& digest) override;
  void keep(const Digest& digest, const FileFacts& facts) override;

 private:
  fs::path file(const Digest& digest) const { return folder_ / (digest.hex() + ".json"); }
  fs::path folder_;
  FileSystem& files_;
};

}  // namespace kiln::evidence
