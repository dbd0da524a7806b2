#include "factory/state/blob_ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <set>
#include <system_error>

#include "factory/state/ledger_file.h"

namespace kiln {
namespace {

constexpr std::string_view kRecordEnding = ".json";

class OpenFolder {
 public:
  explicit OpenFolder(const fs::path& path)
      : descriptor_(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;
  ~OpenFolder() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  std::optional<FileStamp> stamp(std::string_view name) const {
    return stamp_of(descriptor_, std::string(name) + std::string(kRecordEnding));
  }

 private:
  int descriptor_;
};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const std::string& file : RealFileSystem().list(folder))
    if (file.ends_with(kRecordEnding)) names.push_back(file.substr(0, file.size() - kRecordEnding.size()));
  std::sort(names.begin(), names.end());  // '.' comes after '-'
  return names;
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
bool has_all(const fs::path& cache, const OpenFolder& folder, std::set<std::string> names) {
  LedgerReader reader(cache);
  for (LedgerEntry entry; reader.next(entry);)
    if (names.contains(entry.name) && folder.stamp(entry.name) == entry.stamp) names.erase(entry.name);
  return reader.is_proven() && names.empty();
}

}  // namespace

BlobLedger::BlobLedger(fs::path folder, fs::path cache, Read read, const BlobStore& store, std::size_t few)
    : folder_(std::move(folder)),
      record_(folder_.native()),
      cache_(std::move(cache)),
      read_(std::move(read)),
      store_(store.root()),
      sizes_(store),
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
  BlobSizes sizes(BlobStore::reading(store_));
  const OpenFolder folder(folder_);
  std::vector<bool> is_whole;  // by the blob's number
  LedgerReader reader(cache_);
  for (LedgerEntry entry; reader.next(entry) && !stop_;) {
    bool all = true;
    for (const SizedBlob& blob : entry.blobs) {
      is_whole.push_back(sizes.of(blob.sum) == blob.size);
      all = all && is_whole.back();
    }
    for (std::uint32_t number : entry.numbers) all = all && is_whole[number];
    if (all && folder.stamp(entry.name) == entry.stamp) whole.add(entry.name);
  }
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
  // Asked for each step of a plan of which nothing is built: no path is made anew.
  record_.resize(folder_.native().size());
  record_.append("/").append(name).append(kRecordEnding);
  if (::access(record_.c_str(), F_OK) != 0) return false;
  auto blobs = read_(name);
  return read_records_[name] = blobs && std::all_of(blobs->begin(), blobs->end(), [&](const SizedBlob& blob) {
                                 return sizes_.of(blob.sum) == blob.size;
                               });
}

void BlobLedger::keep(FileSystem& files) {
  const OpenFolder folder(folder_);
  std::set<std::string> lacking;
  for (const auto& [name, is_whole] : read_records_)
    if (is_whole) lacking.insert(name);
  if (lacking.empty() || has_all(cache_, folder, std::move(lacking))) return;
  const std::map<std::string, Kept> before = read_all(cache_);
  auto known = [&](const std::string& name, const std::optional<FileStamp>& stamp) {
    auto found = before.find(name);
    return found != before.end() && found->second.stamp == stamp ? &found->second.blobs : nullptr;
  };
  LedgerWriter writer;
  for (const std::string& name : names_in(folder_)) {
    const auto stamp = folder.stamp(name);
    if (const auto* blobs = known(name, stamp))
      writer.add(name, *stamp, *blobs);
    else if (auto read = stamp ? read_(name) : std::nullopt)
      writer.add(name, *stamp, *read);
  }
  files.write_output(cache_, writer.finish());
}

}  // namespace kiln
