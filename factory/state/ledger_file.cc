#include "factory/state/ledger_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace kiln {
namespace {

constexpr std::string_view kLedgerMagic = "kiln blobs 1\n";
constexpr std::size_t kLedgerPiece = 1u << 16;
constexpr std::uint32_t kLongestRecordName = 255;

template <typename Number>
void put(std::string& out, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

std::string bytes_of(const Sha256& sum) { return {reinterpret_cast<const char*>(sum.data()), sum.size()}; }

}  // namespace

std::optional<FileStamp> stamp_of(int folder, const std::string& file) {
  struct stat status {};
  if (::fstatat(folder, file.c_str(), &status, 0) != 0) return std::nullopt;
  return FileStamp{status.st_ino, static_cast<std::uint64_t>(status.st_size),
                   static_cast<std::uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000 +
                       static_cast<std::uint64_t>(status.st_ctim.tv_nsec)};
}

LedgerReader::LedgerReader(const fs::path& file) : file_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (file_ < 0 || ::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < kLedgerMagic.size() + sizeof(Sha256)) return;
  left_ = size - sizeof(Sha256);
  good_ = true;
  std::string magic(kLedgerMagic.size(), '\0');
  good_ = take(magic.data(), magic.size()) && magic == kLedgerMagic;
}

LedgerReader::~LedgerReader() {
  if (file_ >= 0) ::close(file_);
}

bool LedgerReader::take(void* to, std::size_t size) {
  if (!good_ || size > left_) return good_ = false;
  left_ -= size;
  for (auto* out = static_cast<char*>(to); size > 0;) {
    if (at_ == piece_.size()) {
      piece_.resize(std::min<std::uint64_t>(kLedgerPiece, left_ + size));
      const ssize_t got = ::read(file_, piece_.data(), piece_.size());
      if (got <= 0) return good_ = false;
      piece_.resize(static_cast<std::size_t>(got));
      hasher_.update(piece_.data(), piece_.size());
      at_ = 0;
    }
    const std::size_t some = std::min(size, piece_.size() - at_);
    std::memcpy(out, piece_.data() + at_, some);
    at_ += some;
    out += some;
    size -= some;
  }
  return true;
}

template <typename Number>
Number LedgerReader::number() {
  Number value{};
  take(&value, sizeof value);
  return value;
}

// After damage, and for a count that cannot be, 0.
std::uint32_t LedgerReader::count(std::size_t size_of_each) {
  auto count = number<std::uint32_t>();
  if (count > left_ / size_of_each) good_ = false;
  return good_ ? count : 0;
}

bool LedgerReader::next(LedgerEntry& entry) {
  if (!good_ || left_ == 0) return false;
  entry.name.resize(std::min(count(1), kLongestRecordName + 1));
  take(entry.name.data(), entry.name.size());
  entry.stamp.inode = number<std::uint64_t>();
  entry.stamp.size = number<std::uint64_t>();
  entry.stamp.changed = number<std::uint64_t>();
  entry.blobs.resize(count(sizeof(Sha256) + sizeof(std::uint64_t)));
  for (SizedBlob& blob : entry.blobs) {
    take(blob.sum.data(), blob.sum.size());
    blob.size = number<std::uint64_t>();
  }
  blobs_ += static_cast<std::uint32_t>(entry.blobs.size());
  entry.numbers.resize(count(sizeof(std::uint32_t)));
  for (std::uint32_t& number_of_blob : entry.numbers)
    if ((number_of_blob = number<std::uint32_t>()) >= blobs_) good_ = false;
  return good_;
}

bool LedgerReader::is_proven() {
  if (!good_ || left_ > 0) return false;
  good_ = false;
  Sha256 sum{};
  std::string hex;
  if (::read(file_, sum.data(), sum.size()) != static_cast<ssize_t>(sum.size())) return false;
  append_hex(hex, sum);
  return hasher_.finish().hex() == hex;
}

LedgerWriter::LedgerWriter() : bytes_(kLedgerMagic) {}

void LedgerWriter::add(std::string_view name, const FileStamp& stamp, const std::vector<SizedBlob>& blobs) {
  std::string known;
  std::string unknown;
  std::uint32_t count = 0;
  for (const SizedBlob& blob : blobs) {
    auto [found, is_new] = numbers_.try_emplace(blob, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) {
      unknown += bytes_of(blob.sum);
      put(unknown, blob.size);
      ++count;
    } else {
      put(known, found->second);
    }
  }
  put(bytes_, static_cast<std::uint32_t>(name.size()));
  bytes_ += name;
  put(bytes_, stamp.inode);
  put(bytes_, stamp.size);
  put(bytes_, stamp.changed);
  put(bytes_, count);
  bytes_ += unknown;
  put(bytes_, static_cast<std::uint32_t>(known.size() / sizeof(std::uint32_t)));
  bytes_ += known;
}

std::string LedgerWriter::finish() {
  bytes_ += bytes_of(TextHasher().of(bytes_));
  return std::move(bytes_);
}

}  // namespace kiln
