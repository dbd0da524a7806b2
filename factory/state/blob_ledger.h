// Which blobs the records of a folder promise, and whether they are there: for those who ask of ten thousand
// images, whose records nobody has the time to read. What the records say is kept in a file between runs,
// which is a cache: it may be deleted at any time, and only the record itself proves that something is wrong.
//
//   "kiln blobs 1\n"
//   each record, in the order of their names:
//     u32 length of its name, name, stamp (u64 inode, u64 size, u64 ns of its last change)
//     u32 count of blobs that no record before it has, of each: 32 bytes SHA-256, u64 size
//     u32 count of its other blobs, of each: u32 its number
//   32 bytes SHA-256 of all before
//
// Numbers are the machine's own; a file from another kind of machine is no cache.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "factory/base/effects.h"
#include "factory/oci/blob_sizes.h"
#include "factory/state/name_set.h"

namespace kiln {

struct SizedBlob {
  Sha256 sum;
  std::uint64_t size = 0;
  auto operator<=>(const SizedBlob&) const = default;
};

class BlobLedger {
 public:
  // What the record of that name promises; nullopt when it cannot be told: there is none, or it, or what it
  // names, is damaged.
  using Read = std::function<std::optional<std::vector<SizedBlob>>(const std::string& name)>;
  // Of <folder>/<name>.json, kept in `cache`. The first `few` that are asked for are read, for whoever asks
  // of a handful in a large folder.
  BlobLedger(fs::path folder, fs::path cache, Read read, const BlobStore& store, std::size_t few = 64);
  BlobLedger(const BlobLedger&) = delete;
  BlobLedger& operator=(const BlobLedger&) = delete;
  ~BlobLedger();

  // Begins to look at everything that the cache names, beside the caller.
  void look_ahead();
  // Whether the record is there, and each blob that it promises, with its size. What comes later than the
  // first question is not seen.
  bool is_whole(std::string_view name);
  // Writes the cache, when it lacks something that was asked for. Throws Error(store).
  void keep(FileSystem& files);

 private:
  void look();  // fills whole_; of a damaged cache, with nothing
  bool is_whole_by_record(const std::string& name);

  fs::path folder_;
  std::string record_;  // the path of the record that was asked for last
  fs::path cache_;
  Read read_;
  fs::path store_;
  BlobSizes sizes_;
  std::size_t few_;
  std::atomic<bool> stop_{false};
  std::thread ahead_;
  std::optional<NameSet> whole_;              // by the cache; ahead_'s until it is joined
  std::map<std::string, bool> read_records_;  // whether they are whole
};

}  // namespace kiln
