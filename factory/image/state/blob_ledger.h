// Which blobs the records of a folder promise: so that ten thousand images can be asked for without reading
// their records. Kept in a file between runs, which is a cache: it may be deleted at any time, and what it
// does not know, or says of a record that was written since, is read from the record.
//
//   "kiln blobs 1\n"
//   u64  time of the folder's last change, ns; 0: it changed as this was written
//   u32  count of blobs, of each: 32 bytes SHA-256, u64 size
//   u32  count of records, of each: u32 length of its name, name, stamp (u64 inode, u64 size, u64 ns),
//        u32 count of blobs, of each: u32 its number
//   32 bytes SHA-256 of all before
//
// Numbers are the machine's own; a file from another kind of machine is no cache.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/effects.h"
#include "oci/blob_sizes.h"

namespace kiln {

struct SizedBlob {
  Sha256 sum;
  std::uint64_t size = 0;
};

// A file at one moment: one that is written anew has another.
struct FileStamp {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t modified = 0;  // ns since 1970
  bool operator==(const FileStamp&) const = default;
};
std::optional<FileStamp> stamp_of(const fs::path& file);  // nullopt when there is none

class BlobLedger {
 public:
  // What the record of that name promises; nullopt when it cannot be told: it, or what it names, is damaged.
  using Read = std::function<std::optional<std::vector<SizedBlob>>(const std::string& name)>;
  // Of <folder>/<name>.json, kept in `cache`. Nothing is read before something is asked. REQUIRES: `sizes`
  // outlives this.
  BlobLedger(fs::path folder, fs::path cache, Read read, BlobSizes& sizes);

  // Whether the record is there, and each blob that it promises, with its size.
  bool is_whole(std::string_view name);
  // Writes the cache, when it does not say what the records of the folder do. Throws Error(store).
  void keep(FileSystem& files);

 private:
  struct Record {
    FileStamp stamp;
    std::vector<std::uint32_t> blobs;
  };
  enum class Look : unsigned char { not_yet, whole, damaged };

  void load();
  bool parse(std::string_view bytes);
  fs::path file_of(std::string_view name) const;
  bool are_whole(const Record& record);
  // The record as its file says, read anew; null when there is none, or it is damaged.
  Record* learn(std::string_view name);
  std::uint32_t number_of(const SizedBlob& blob);
  std::string text(const std::vector<std::string>& names, std::uint64_t changed) const;

  fs::path folder_;
  fs::path cache_;
  Read read_;
  BlobSizes& sizes_;
  bool loaded_ = false;
  bool unchanged_ = false;         // no record came or went since the cache was written
  bool knows_more_ = false;        // than the cache
  std::uint64_t cached_time_ = 0;  // of the folder
  std::vector<SizedBlob> blobs_;
  std::vector<Look> looks_;
  std::map<Sha256, std::uint32_t> numbers_;  // filled when the first record is learnt
  std::unordered_map<std::string, Record> records_;
};

}  // namespace kiln
