// The cache:
//
//   "kiln blobs 2\n"
//   each record, in the order of their names: u32 size, and as many bytes of a LedgerEntry (field_bytes.h)
//   u32 0
//   64 hex digits: SHA-256 of all before
//
// Numbers are the machine's own; a file from another kind of machine is no cache.
#include "factory/state/blob_ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <set>
#include <system_error>

#include "factory/base/field_bytes.h"

namespace kiln {

// One record of the cache.
struct LedgerEntry {
  std::string name;
  FileStamp stamp;
  std::vector<SizedBlob> blobs;        // that no record before it has; their numbers follow those of before
  std::vector<std::uint32_t> numbers;  // of its other blobs
};

template <typename Bytes>
static void fields(Bytes& bytes, FileStamp& stamp) {
  bytes(stamp.inode, stamp.size, stamp.changed);
}
template <typename Bytes>
static void fields(Bytes& bytes, SizedBlob& blob) {
  bytes(blob.sum, blob.size);
}
template <typename Bytes>
static void fields(Bytes& bytes, LedgerEntry& entry) {
  bytes(entry.name, entry.stamp, entry.blobs, entry.numbers);
}

namespace {

constexpr std::string_view kRecordEnding = ".json";
constexpr std::string_view kLedgerMagic = "kiln blobs 2\n";
constexpr std::uint32_t kLargestEntry = 1u << 20;  // bytes: an image of 20,000 blobs

// Holds one record of the cache at a time: 100,000 images have 50 MB of them.
class LedgerReader {
 public:
  explicit LedgerReader(const fs::path& file) : file_(file, std::ios::binary) {
    good_ = read(kLedgerMagic.size()) && bytes_ == kLedgerMagic;
  }

  // The next record; false after the last one, and after damage.
  bool next(LedgerEntry& entry) try {
    std::uint32_t size = 0;
    good_ = good_ && read(sizeof size);
    if (good_) bytes_.copy(reinterpret_cast<char*>(&size), sizeof size);
    if (!good_ || size == 0) return false;
    good_ = size <= kLargestEntry && read(size);
    if (!good_) return false;
    FromBytes from(bytes_);
    from(entry);
    blobs_ += entry.blobs.size();
    return good_ = std::ranges::all_of(entry.numbers, [&](std::uint32_t number) { return number < blobs_; });
  } catch (const Error&) {
    return good_ = false;
  }

  // REQUIRES: next() returned false. Whether all that it gave is what was written.
  bool is_proven() {
    if (!good_) return false;
    const std::string sum = hasher_.finish().hex();
    good_ = false;
    bytes_.resize(sum.size());
    return file_.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size())) && bytes_ == sum &&
           file_.peek() == std::ifstream::traits_type::eof();
  }

 private:
  bool read(std::size_t size) {
    bytes_.resize(size);
    if (!file_.read(bytes_.data(), static_cast<std::streamsize>(size))) return false;
    hasher_.update(bytes_.data(), size);
    return true;
  }

  std::ifstream file_;
  std::string bytes_;
  Hasher hasher_;
  std::size_t blobs_ = 0;
  bool good_ = false;
};

class LedgerWriter {
 public:
  // REQUIRES: the name comes after all before it.
  void add(const std::string& name, const FileStamp& stamp, const std::vector<SizedBlob>& blobs) {
    LedgerEntry entry{name, stamp, {}, {}};
    for (const SizedBlob& blob : blobs) {
      auto [found, is_new] = numbers_.try_emplace(blob, static_cast<std::uint32_t>(numbers_.size()));
      if (is_new)
        entry.blobs.push_back(blob);
      else
        entry.numbers.push_back(found->second);
    }
    ToBytes bytes;
    bytes(entry);
    put_size(bytes.size());
    bytes_ += bytes.finish();
  }
  std::string finish() {
    put_size(0);
    return bytes_ + Digest::of(bytes_).hex();
  }

 private:
  void put_size(std::size_t size) {
    const auto number = static_cast<std::uint32_t>(size);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  std::string bytes_{kLedgerMagic};
  std::map<SizedBlob, std::uint32_t> numbers_;
};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names = RealFileSystem().stems(folder, kRecordEnding);
  std::ranges::sort(names);  // '.' comes after '-'
  return names;
}

std::optional<FileStamp> stamp_of(OpenFolder& records, const std::string& name) {
  return records.stamp(name + std::string(kRecordEnding));
}

// All that a cache holds, by name; nothing of a damaged one.
struct Kept {
  FileStamp stamp;
  std::vector<SizedBlob> blobs;
};
std::map<std::string, Kept> read_all(const fs::path& cache) {
  std::map<std::string, Kept> all;
  std::vector<SizedBlob> blobs;
  LedgerReader reader(cache);
  for (LedgerEntry entry; reader.next(entry);) {
    blobs.insert(blobs.end(), entry.blobs.begin(), entry.blobs.end());
    for (std::uint32_t number : entry.numbers) entry.blobs.push_back(blobs[number]);
    all[entry.name] = {entry.stamp, std::move(entry.blobs)};
  }
  if (!reader.is_proven()) all.clear();
  return all;
}

// Whether it has these records, as they are now.
bool has_all(const fs::path& cache, OpenFolder& records, std::set<std::string> names) {
  LedgerReader reader(cache);
  for (LedgerEntry entry; reader.next(entry);)
    if (names.contains(entry.name) && stamp_of(records, entry.name) == entry.stamp) names.erase(entry.name);
  return reader.is_proven() && names.empty();
}

bool has(OpenFolder& blobs, const SizedBlob& blob) {
  std::string name = hex_of(blob.sum);
  name.insert(0, {name[0], name[1], '/'});
  const auto found = blobs.stamp(name);
  return found && found->size == blob.size;
}

}  // namespace

NameSet::NameSet(const std::vector<std::string>& names) {
  for (const std::string& name : names) add(name);
  sort();
}

std::uint64_t NameSet::hash(std::string_view name) {
  static_assert(sizeof(std::size_t) == 8);
  return std::hash<std::string_view>()(name);
}

void NameSet::sort() { std::ranges::sort(hashes_); }

bool NameSet::contains(std::string_view name) const {
  return std::ranges::binary_search(hashes_, hash(name));
}

OpenFolder::~OpenFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<FileStamp> OpenFolder::stamp(const std::string& file) {
  if (descriptor_ < 0) descriptor_ = ::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat status {};
  if (::fstatat(descriptor_, file.c_str(), &status, 0) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileStamp{status.st_ino, static_cast<std::uint64_t>(status.st_size),
                   static_cast<std::uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000 +
                       static_cast<std::uint64_t>(status.st_ctim.tv_nsec)};
}

BlobLedger::BlobLedger(fs::path folder, fs::path cache, Read read, const fs::path& store, std::size_t few)
    : folder_(std::move(folder)),
      blob_folder_(store / "sha256"),
      records_(folder_),
      blobs_(blob_folder_),
      cache_(std::move(cache)),
      read_(std::move(read)),
      few_(few) {}

BlobLedger::~BlobLedger() {
  stop_ = true;
  if (ahead_.joinable()) ahead_.join();
}

void BlobLedger::look_ahead() {
  if (ahead_.joinable() || whole_) return;
  try {
    ahead_ = std::thread([this] { look(); });
  } catch (const std::system_error&) {
    // No thread to be had: it is looked at when somebody asks.
  }
}

void BlobLedger::look() try {
  NameSet whole;
  OpenFolder records(folder_);
  OpenFolder blobs(blob_folder_);
  std::vector<bool> is_whole;  // by the blob's number
  LedgerReader reader(cache_);
  for (LedgerEntry entry; reader.next(entry) && !stop_;) {
    for (const SizedBlob& blob : entry.blobs) is_whole.push_back(has(blobs, blob));
    const bool all =
        std::all_of(is_whole.end() - static_cast<std::ptrdiff_t>(entry.blobs.size()), is_whole.end(),
                    [](bool one) { return one; }) &&
        std::ranges::all_of(entry.numbers, [&](std::uint32_t number) { return is_whole[number]; });
    if (all && stamp_of(records, entry.name) == entry.stamp) whole.add(entry.name);
  }
  whole.sort();
  whole_ = reader.is_proven() ? std::move(whole) : NameSet();
} catch (const std::bad_alloc&) {  // in a thread: the records are there
  whole_ = NameSet();
}

bool BlobLedger::is_whole(std::string_view name) {
  if (ahead_.joinable() || !whole_) {
    if (read_records_.size() < few_) return is_whole_by_record(std::string(name));
    if (ahead_.joinable())
      ahead_.join();
    else
      look();
  }
  return whole_->contains(name) || is_whole_by_record(std::string(name));
}

bool BlobLedger::is_whole_by_record(const std::string& name) {
  auto known = read_records_.find(name);
  if (known != read_records_.end()) return known->second;
  // Asked for each step of a plan of which nothing is built: those without a file are not kept.
  if (!stamp_of(records_, name)) return false;
  auto blobs = read_(name);
  return read_records_[name] =
             blobs && std::ranges::all_of(*blobs, [&](const SizedBlob& blob) { return has(blobs_, blob); });
}

void BlobLedger::keep(FileSystem& files) {
  std::set<std::string> lacking;
  for (const auto& [name, is_whole] : read_records_)
    if (is_whole) lacking.insert(name);
  if (lacking.empty() || has_all(cache_, records_, std::move(lacking))) return;
  const std::map<std::string, Kept> before = read_all(cache_);
  LedgerWriter writer;
  for (const std::string& name : names_in(folder_)) {
    const auto stamp = stamp_of(records_, name);
    const auto known = before.find(name);
    if (known != before.end() && known->second.stamp == stamp)
      writer.add(name, *stamp, known->second.blobs);
    else if (auto read = stamp ? read_(name) : std::nullopt)
      writer.add(name, *stamp, *read);
  }
  files.write_output(cache_, writer.finish());
}

}  // namespace kiln
