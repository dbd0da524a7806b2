#include "image/state/blob_ledger.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <ctime>

namespace kiln {
namespace {

constexpr std::string_view kMagic = "kiln blobs 1\n";
constexpr std::string_view kEnding = ".json";
// A file system's clock stands still for some milliseconds: what changes a folder within them cannot be told
// from what changed it before.
constexpr std::uint64_t kSettled = 100'000'000;  // ns

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

template <typename Number>
void put(std::string& out, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

// Takes values off the front. After the end, or for a count that cannot be, everything is zero and `good` is
// false.
class LedgerReader {
 public:
  explicit LedgerReader(std::string_view bytes) : rest_(bytes) {}
  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

  std::string_view bytes(std::size_t size) {
    if (size > rest_.size()) {
      good_ = false;
      return {};
    }
    std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <typename Number>
  Number number() {
    Number value{};
    std::string_view taken = bytes(sizeof value);
    if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  std::uint32_t count(std::size_t size_of_each) {
    auto count = number<std::uint32_t>();
    if (count > rest_.size() / size_of_each) good_ = false;
    return good_ ? count : 0;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::optional<FileStamp> stamp_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return FileStamp{status.st_ino, static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim)};
}

BlobLedger::BlobLedger(fs::path folder, fs::path cache, Read read, BlobSizes& sizes)
    : folder_(std::move(folder)), cache_(std::move(cache)), read_(std::move(read)), sizes_(sizes) {}

fs::path BlobLedger::file_of(std::string_view name) const {
  return folder_ / (std::string(name) + std::string(kEnding));
}

void BlobLedger::load() {
  if (loaded_) return;
  loaded_ = true;
  auto bytes = RealFileSystem().read(cache_);
  if (!bytes || !parse(*bytes)) {
    blobs_.clear();
    records_.clear();
    cached_time_ = 0;
  }
  looks_.assign(blobs_.size(), Look::not_yet);
  auto now = stamp_of(folder_);
  unchanged_ = now && cached_time_ != 0 && now->modified == cached_time_;
}

bool BlobLedger::parse(std::string_view bytes) {
  constexpr std::size_t kSum = sizeof(Sha256);
  if (bytes.size() < kMagic.size() + kSum || !bytes.starts_with(kMagic)) return false;
  std::string_view content = bytes.substr(0, bytes.size() - kSum);
  const Sha256 sum = TextHasher().of(content);
  if (std::memcmp(sum.data(), bytes.data() + content.size(), kSum) != 0) return false;
  LedgerReader in(content.substr(kMagic.size()));
  cached_time_ = in.number<std::uint64_t>();
  blobs_.resize(in.count(kSum + sizeof(std::uint64_t)));
  for (SizedBlob& blob : blobs_) {
    std::memcpy(blob.sum.data(), in.bytes(kSum).data(), kSum);
    blob.size = in.number<std::uint64_t>();
  }
  for (std::uint32_t left = in.count(sizeof(std::uint32_t)); left > 0 && in.good(); --left) {
    std::string name(in.bytes(in.number<std::uint32_t>()));
    Record record;
    record.stamp = {in.number<std::uint64_t>(), in.number<std::uint64_t>(), in.number<std::uint64_t>()};
    record.blobs.resize(in.count(sizeof(std::uint32_t)));
    for (std::uint32_t& blob : record.blobs)
      if ((blob = in.number<std::uint32_t>()) >= blobs_.size()) return false;
    records_.emplace(std::move(name), std::move(record));
  }
  return in.at_end();
}

bool BlobLedger::are_whole(const Record& record) {
  return std::all_of(record.blobs.begin(), record.blobs.end(), [&](std::uint32_t number) {
    Look& look = looks_[number];
    if (look == Look::not_yet)
      look = sizes_.of(blobs_[number].sum) == blobs_[number].size ? Look::whole : Look::damaged;
    return look == Look::whole;
  });
}

// A record that is cut where it lies leaves its folder's time as it was: each is looked at by itself.
bool BlobLedger::is_whole(std::string_view name) {
  load();
  auto found = records_.find(std::string(name));
  if (found != records_.end() && are_whole(found->second) && stamp_of(file_of(name)) == found->second.stamp)
    return true;
  // Only the record itself proves damage.
  Record* record = learn(name);
  return record != nullptr && are_whole(*record);
}

std::uint32_t BlobLedger::number_of(const SizedBlob& blob) {
  if (numbers_.empty())
    for (std::uint32_t number = 0; number < blobs_.size(); ++number)
      numbers_.emplace(blobs_[number].sum, number);
  auto [found, is_new] = numbers_.emplace(blob.sum, static_cast<std::uint32_t>(blobs_.size()));
  if (is_new) {
    blobs_.push_back(blob);
    looks_.push_back(Look::not_yet);
  } else if (blobs_[found->second].size != blob.size) {
    blobs_[found->second].size = blob.size;
    looks_[found->second] = Look::not_yet;
  }
  return found->second;
}

BlobLedger::Record* BlobLedger::learn(std::string_view name) {
  auto stamp = stamp_of(file_of(name));
  auto blobs = stamp ? read_(std::string(name)) : std::nullopt;
  if (!blobs) {
    knows_more_ |= records_.erase(std::string(name)) > 0;
    return nullptr;
  }
  Record& record = records_[std::string(name)];
  const Record before = std::exchange(record, {*stamp, {}});
  for (const SizedBlob& blob : *blobs) record.blobs.push_back(number_of(blob));
  knows_more_ |= record.stamp != before.stamp || record.blobs != before.blobs;
  return &record;
}

// Blobs that no record promises any more are left out.
std::string BlobLedger::text(const std::vector<std::string>& names, std::uint64_t changed) const {
  std::vector<std::uint32_t> numbers(blobs_.size(), UINT32_MAX);
  std::uint32_t count = 0;
  std::string blobs;
  std::string records;
  auto number_in_file = [&](std::uint32_t number) {
    if (numbers[number] != UINT32_MAX) return numbers[number];
    blobs.append(reinterpret_cast<const char*>(blobs_[number].sum.data()), sizeof(Sha256));
    put(blobs, blobs_[number].size);
    return numbers[number] = count++;
  };
  for (const std::string& name : names) {
    const Record& record = records_.at(name);
    put(records, static_cast<std::uint32_t>(name.size()));
    records += name;
    put(records, record.stamp.inode);
    put(records, record.stamp.size);
    put(records, record.stamp.modified);
    put(records, static_cast<std::uint32_t>(record.blobs.size()));
    for (std::uint32_t blob : record.blobs) put(records, number_in_file(blob));
  }
  std::string out(kMagic);
  put(out, changed);
  put(out, count);
  out += blobs;
  put(out, static_cast<std::uint32_t>(names.size()));
  out += records;
  const Sha256 sum = TextHasher().of(out);
  out.append(reinterpret_cast<const char*>(sum.data()), sum.size());
  return out;
}

void BlobLedger::keep(FileSystem& files) {
  load();
  auto folder = stamp_of(folder_);
  if (!folder || (unchanged_ && !knows_more_)) return;
  std::vector<std::string> names;
  for (std::string file : RealFileSystem().list(folder_)) {
    if (!file.ends_with(kEnding)) continue;
    std::string name = file.substr(0, file.size() - kEnding.size());
    auto found = records_.find(name);
    bool known = found != records_.end() && found->second.stamp == stamp_of(folder_ / file);
    if (known || learn(name) != nullptr) names.push_back(std::move(name));
  }
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  bool settled = folder->modified + kSettled < nanoseconds(now);
  files.write_output(cache_, text(names, settled ? folder->modified : 0));
}

}  // namespace kiln
