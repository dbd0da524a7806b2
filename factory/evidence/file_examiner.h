// What evidence needs of one file's content, worked out while it streams by.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "factory/base/digest.h"
#include "factory/evidence/facts_cache.h"
#include "factory/evidence/spool.h"
#include "factory/oci/layer_extract.h"

namespace kiln::evidence {

// What a regular file holds.
struct Content {
  std::optional<FileFacts> facts;  // of an ELF file
  std::string damage;              // of a file that begins like ELF and is none
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
