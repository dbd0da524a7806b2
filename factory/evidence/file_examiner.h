// Finds the facts about one file's content that evidence needs, while the content streams by.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "factory/base/cache_folder.h"
#include "factory/base/digest.h"
#include "factory/base/file_handle.h"
#include "factory/evidence/file_facts.h"
#include "factory/oci/layer_extract.h"

namespace kiln::evidence {

// Findings in ELF files, kept by their bytes.

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

// The bytes of one file, in memory while small, else in an unnamed temporary file that is mapped.
class Spool {
 public:
  explicit Spool(std::size_t in_memory = 64u << 20) : in_memory_(in_memory) {}
  ~Spool() { unmap(); }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void clear();
  void append(std::string_view bytes);  // throws Error(store) when the temporary folder is full
  std::uint64_t size() const { return size_; }
  // All of it; valid until the next append() or clear(). Throws Error(store).
  std::string_view bytes();

 private:
  void write(std::string_view bytes);
  void unmap();
  std::size_t in_memory_;
  std::string memory_;
  std::uint64_t size_ = 0;
  FileHandle fd_;
  void* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
};

// Findings in a regular file.
struct Content {
  std::optional<FileFacts> facts;  // of an ELF file
  std::string damage;              // of a file with an ELF magic number that is no valid ELF file
  std::string text;                // of a small text file
  std::uint64_t size = 0;
};

// The same as bytes and back, not a bit lost. Throws Error(input) for other bytes.
std::string to_bytes(Content& content);
Content content_from_bytes(std::string_view bytes);

// One file after the other; nothing is remembered of the last.
class FileExaminer final : public ContentExtractor {
 public:
  // `jobs`: scanning threads; `cache` may be null.
  FileExaminer(unsigned jobs, FactsCache* cache) : jobs_(jobs), cache_(cache) {}

  void begin();
  void append(std::string_view bytes) override;
  Content end();

  void begin_file(std::string_view) override { begin(); }
  std::string end_file() override;

 private:
  enum class Kind { undecided, elf, other };
  void keep(std::string_view bytes);
  void examine_elf();

  unsigned jobs_;
  FactsCache* cache_;
  Content content_;
  Spool spool_;
  std::unique_ptr<Hasher> hasher_;
  std::string start_;
  Kind kind_ = Kind::undecided;
};

}  // namespace kiln::evidence
