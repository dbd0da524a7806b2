// Which blobs the records of a folder name, and whether they exist: for callers that ask about ten thousand
// images, whose records take too long to read. A file keeps the contents of the records between runs. It is a
// cache: it may be deleted at any time, and only the record itself proves damage. blob_ledger.cc draws its
// format.
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

#include "factory/base/digest.h"
#include "factory/base/effects.h"

namespace kiln {

// Many names, as their 64-bit hashes: eight bytes each, as ninja keeps commands in its log. Of a million
// names, a name that is missing counts as present once in 10^13 questions.
class NameSet {
 public:
  NameSet() = default;
  explicit NameSet(const std::vector<std::string>& names);
  void add(std::string_view name) { hashes_.push_back(hash(name)); }
  void sort();
  bool contains(std::string_view name) const;  // REQUIRES: sort() after the last add()

 private:
  static std::uint64_t hash(std::string_view name);
  std::vector<std::uint64_t> hashes_;
};

struct SizedBlob {
  Sha256 sum;
  std::uint64_t size = 0;
  auto operator<=>(const SizedBlob&) const = default;
};

// A regular file at one moment: one that is written anew, or changed where it lies, has another.
struct FileStamp {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t changed = 0;  // ns since 1970
  bool operator==(const FileStamp&) const = default;
};

// A folder of which many files are looked at, by their names below it. One that is missing has no files,
// until it is made. For one thread.
class OpenFolder {
 public:
  explicit OpenFolder(fs::path path) : path_(std::move(path)) {}
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;
  ~OpenFolder();
  std::optional<FileStamp> stamp(const std::string& file);

 private:
  fs::path path_;
  int descriptor_ = -1;
};

class BlobLedger {
 public:
  // The blobs that the record of that name lists; nullopt if they are not known: the record is missing, or it
  // or a blob is damaged.
  using Read = std::function<std::optional<std::vector<SizedBlob>>(const std::string& name)>;
  // Of <folder>/<name>.json, kept in `cache`; `store`: the root of the blob store. The first `few` that are
  // asked for are read, for a caller that asks of a handful in a large folder.
  BlobLedger(fs::path folder, fs::path cache, Read read, const fs::path& store, std::size_t few = 64);
  BlobLedger(const BlobLedger&) = delete;
  BlobLedger& operator=(const BlobLedger&) = delete;
  ~BlobLedger();

  // Begins to look at everything that the cache names, in another thread.
  void look_ahead();
  // Whether the record and each of its blobs exist, with their sizes. Later files than the first question are
  // not seen.
  bool is_whole(std::string_view name);
  // Writes the cache, when it lacks something that was asked for. Throws Error(store).
  void keep(FileSystem& files);

 private:
  void look();  // fills whole_; of a damaged cache, with nothing
  bool is_whole_by_record(const std::string& name);

  fs::path folder_;
  fs::path blob_folder_;
  OpenFolder records_;
  OpenFolder blobs_;
  fs::path cache_;
  Read read_;
  std::size_t few_;
  std::atomic<bool> stop_{false};
  std::thread ahead_;
  std::optional<NameSet> whole_;              // by the cache; ahead_'s until it is joined
  std::map<std::string, bool> read_records_;  // whether they are whole
};

}  // namespace kiln
