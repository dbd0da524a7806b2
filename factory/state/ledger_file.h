// The file of a BlobLedger, which says what it holds: written whole, read from the beginning to the end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/state/blob_ledger.h"

namespace kiln {

// A file at one moment: one that is written anew, or changed where it lies, has another.
struct FileStamp {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t changed = 0;  // ns since 1970
  bool operator==(const FileStamp&) const = default;
};
// Of a file below an open folder, or AT_FDCWD; nullopt when there is none.
std::optional<FileStamp> stamp_of(int folder, const std::string& file);

// One record of the file.
struct LedgerEntry {
  std::string name;
  FileStamp stamp;
  std::vector<SizedBlob> blobs;        // that no record before it has; their numbers follow those of before
  std::vector<std::uint32_t> numbers;  // of its other blobs
};

// Holds no more of the file than a piece at a time.
class LedgerReader {
 public:
  explicit LedgerReader(const fs::path& file);
  LedgerReader(const LedgerReader&) = delete;
  LedgerReader& operator=(const LedgerReader&) = delete;
  ~LedgerReader();

  // The next record; false after the last one, and after damage.
  bool next(LedgerEntry& entry);
  // REQUIRES: next() returned false. Whether all that it gave is what was written; false when there is no
  // file.
  bool is_proven();

 private:
  bool take(void* to, std::size_t size);
  template <typename Number>
  Number number();
  std::uint32_t count(std::size_t size_of_each);

  int file_ = -1;
  std::uint64_t left_ = 0;  // before the checksum, not taken yet
  Hasher hasher_;
  std::vector<char> piece_;
  std::size_t at_ = 0;  // in the piece
  std::uint32_t blobs_ = 0;
  bool good_ = false;
};

class LedgerWriter {
 public:
  LedgerWriter();
  // REQUIRES: the name comes after all before it.
  void add(std::string_view name, const FileStamp& stamp, const std::vector<SizedBlob>& blobs);
  std::string finish();  // may be called once

 private:
  std::string bytes_;
  std::map<SizedBlob, std::uint32_t> numbers_;
};

}  // namespace kiln
