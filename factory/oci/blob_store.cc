#include "factory/oci/blob_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "factory/base/durable_file.h"
#include "factory/base/error.h"
#include "factory/base/file_handle.h"
#include "factory/base/text.h"
#include "factory/oci/blob.h"

namespace kiln {

namespace fs = std::filesystem;
namespace {

constexpr std::size_t kCopyBytes = 1u << 20;
constexpr std::uint64_t kSidecarBytes = 256u << 20;
constexpr std::array<const char*, 3> kSidecarFolders = {"records", "measurements", "snapshots"};

class OpenFile {
 public:
  // O_NONBLOCK so that a FIFO put in a file's place cannot hang us.
  explicit OpenFile(const fs::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) return;
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail_with_errno(errno, "read", path);
    if (!S_ISREG(status.st_mode)) throw Error(ExitCode::store, path.string() + " is not a regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  bool is_open() const { return descriptor_ >= 0; }
  std::uint64_t size() const { return size_; }
  std::size_t read(char* buffer, std::size_t size) {
    ssize_t got = ::read(descriptor_, buffer, size);
    while (got < 0 && errno == EINTR) got = ::read(descriptor_, buffer, size);
    if (got < 0) fail_with_errno(errno, "read", path_);
    return static_cast<std::size_t>(got);
  }

 private:
  fs::path path_;
  FileHandle descriptor_;
  std::uint64_t size_ = 0;
};

// The whole file, nullopt when absent. `check_size` may throw before anything is read.
std::optional<std::string> read_whole(const fs::path& path,
                                      const std::function<void(std::uint64_t)>& check_size) {
  OpenFile file(path);
  if (!file.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail_with_errno(errno, "open", path);
  }
  check_size(file.size());
  std::string bytes(file.size(), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    std::size_t got = file.read(bytes.data() + done, bytes.size() - done);
    if (got == 0) break;
    done += got;
  }
  bytes.resize(done);
  return bytes;
}

constexpr std::string_view kSealHead = "{\"checksum\":\"";
constexpr std::string_view kSealContent = "\",\"content\":";

std::string seal_of(const fs::path& path, std::string_view json) {
  Hasher hasher;
  std::string name = fmt::format("{}/{}\n", path.parent_path().filename().string(), path.stem().string());
  hasher.update(name.data(), name.size());
  hasher.update(json.data(), json.size());
  return hasher.finish().hex();
}

// What is sealed; nullopt for anything but what write_sidecar wrote to this path.
std::optional<std::string> unsealed(const fs::path& path, std::string_view text) {
  constexpr std::size_t kHex = 64;
  std::size_t head = kSealHead.size() + kHex + kSealContent.size();
  if (text.size() <= head || !text.starts_with(kSealHead) || !text.ends_with('}')) return std::nullopt;
  std::string_view json = text.substr(head, text.size() - head - 1);
  bool proven = text.substr(kSealHead.size() + kHex, kSealContent.size()) == kSealContent &&
                text.substr(kSealHead.size(), kHex) == seal_of(path, json);
  return proven ? std::optional(std::string(json)) : std::nullopt;
}

bool is_sidecar_name(const std::string& name) {
  auto allowed = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-'; };
  return !name.empty() && name.size() < 128 && std::ranges::all_of(name, allowed);
}

}  // namespace

struct BlobStore::Writer::State {
  explicit State(const BlobStore& owner) : store(owner), file(owner.root_ / "tmp") {}
  BlobStore store;
  DurableFile file;
  Hasher hasher;
  std::uint64_t size = 0;
};

BlobStore::BlobStore(fs::path root) : root_(std::move(root)) {
  make_durable_folder(root_ / "tmp");
  make_durable_folder(root_ / "sha256");
  for (const char* folder : kSidecarFolders) make_durable_folder(root_ / folder);
}

BlobStore BlobStore::reading(fs::path root) { return {std::move(root), AsItIs{}}; }

fs::path BlobStore::path(const Digest& digest) const {
  if (digest.empty()) throw Error(ExitCode::store, "a blob is named by a digest, and this one is empty");
  return root_ / "sha256" / digest.hex().substr(0, 2) / digest.hex();
}

std::optional<std::uint64_t> BlobStore::size_of(const Digest& digest) const {
  struct stat status {};
  if (digest.empty() || ::stat(path(digest).c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

std::string BlobStore::read(const Digest& digest, std::uint64_t limit) const {
  auto bytes = read_whole(path(digest), [&](std::uint64_t size) {
    if (size <= limit) return;
    throw Error(ExitCode::store, fmt::format("blob {} has {} bytes, more than the {} expected here",
                                             digest.text(), size, limit));
  });
  if (!bytes)
    throw Error(ExitCode::store,
                fmt::format("blob {} is not in the store {}", digest.text(), root_.string()));
  Digest found = Digest::of(*bytes);
  if (found != digest) {
    throw Error(
        ExitCode::store,
        fmt::format("{} is damaged: its content has the digest {}", path(digest).string(), found.text()),
        kDamageRemedy);
  }
  return *std::move(bytes);
}

BlobStore::Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
BlobStore::Writer::Writer(Writer&&) noexcept = default;
BlobStore::Writer::~Writer() = default;

void BlobStore::Writer::write(const void* bytes, std::size_t size) {
  state_->file.write(bytes, size);
  state_->hasher.update(bytes, size);
  state_->size += size;
}

Descriptor BlobStore::Writer::commit(std::string media_type, const Digest& expected) {
  Digest digest = state_->hasher.finish();
  if (!expected.empty() && digest != expected) {
    throw Error(ExitCode::store,
                fmt::format("digest mismatch: expected {}, found {}", expected.text(), digest.text()));
  }
  // A blob that is there already is replaced: the same bytes, but known to be whole and synced.
  state_->file.publish(state_->store.path(digest));
  Descriptor descriptor{std::move(media_type), digest, state_->size, {}};
  state_.reset();
  return descriptor;
}

BlobStore::Writer BlobStore::writer() const { return Writer(std::make_unique<Writer::State>(*this)); }

Descriptor BlobStore::put(std::string_view bytes, std::string media_type) const {
  Writer out = writer();
  out.write(bytes.data(), bytes.size());
  return out.commit(std::move(media_type));
}

Descriptor BlobStore::put_file(const fs::path& file, std::string media_type, const Digest& expected) const {
  OpenFile in(file);
  if (!in.is_open()) fail_with_errno(errno, "open", file);
  Writer out = writer();
  std::string buffer(kCopyBytes, '\0');
  while (std::size_t got = in.read(buffer.data(), buffer.size())) out.write(buffer.data(), got);
  try {
    return out.commit(std::move(media_type), expected);
  } catch (Error& error) {
    error.while_doing("storing " + file.string());
    throw;
  }
}

std::vector<Digest> BlobStore::blobs() const {
  std::vector<Digest> found;
  std::error_code error;
  const fs::path root = root_ / "sha256";
  for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    bool is_blob = name.size() == 64 && is_hex(name) && entry.depth() == 1 &&
                   entry->path().parent_path().filename() == name.substr(0, 2);
    if (is_blob) found.push_back(Digest::from_hex(name));
  }
  if (error && error != std::errc::no_such_file_or_directory) fail_with_errno(error.value(), "read", root);
  std::ranges::sort(found);
  return found;
}

void BlobStore::remove(const Digest& digest) const {
  std::error_code error;
  fs::remove_all(path(digest), error);
  if (error) fail_with_errno(error.value(), "remove", path(digest));
}

fs::path BlobStore::sidecar_path(Sidecar kind, const std::string& name) const {
  if (!is_sidecar_name(name)) throw Error(ExitCode::store, fmt::format("'{}' cannot name a sidecar", name));
  return root_ / kSidecarFolders.at(static_cast<std::size_t>(kind)) / (name + ".json");
}

void BlobStore::write_sidecar(Sidecar kind, const std::string& name, std::string_view json) const {
  fs::path path = sidecar_path(kind, name);
  DurableFile file(root_ / "tmp");
  std::string text = fmt::format("{}{}{}{}}}", kSealHead, seal_of(path, json), kSealContent, json);
  file.write(text.data(), text.size());
  file.publish(path);
}

std::optional<std::string> BlobStore::read_sidecar(Sidecar kind, const std::string& name) const {
  fs::path path = sidecar_path(kind, name);
  auto text = read_whole(path, [&](std::uint64_t size) {
    if (size > kSidecarBytes)
      throw Error(ExitCode::store,
                  fmt::format("{} has {} bytes: no sidecar is so large", path.string(), size));
  });
  return text ? unsealed(path, *text) : std::nullopt;
}

std::vector<std::string> BlobStore::sidecars(Sidecar kind) const {
  std::vector<std::string> names;
  fs::path folder = root_ / kSidecarFolders.at(static_cast<std::size_t>(kind));
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().stem().string();
    if (entry->path().extension() == ".json" && is_sidecar_name(name)) names.push_back(std::move(name));
  }
  if (error && error != std::errc::no_such_file_or_directory) fail_with_errno(error.value(), "read", folder);
  std::ranges::sort(names);
  return names;
}

void BlobStore::write_record(const Digest& manifest, std::string_view json) const {
  write_sidecar(Sidecar::record, manifest.hex(), json);
}

std::optional<std::string> BlobStore::read_record(const Digest& manifest) const {
  return read_sidecar(Sidecar::record, manifest.hex());
}

std::vector<Digest> BlobStore::records() const {
  std::vector<Digest> digests;
  for (const auto& name : sidecars(Sidecar::record)) {
    if (name.size() == 64 && is_hex(name)) {
      digests.push_back(Digest::from_hex(name));
    }
  }
  return digests;
}

std::size_t BlobStore::drop_dead_temporaries() const { return drop_dead_files(root_ / "tmp"); }

namespace {

constexpr std::uint64_t kReadAtOnce = 1u << 20;

Digest digest_of(const fs::path& path, const std::function<void(std::uint64_t bytes)>& read) {
  ReadOnlyFile file(path);
  Hasher hasher;
  std::vector<char> piece(std::min(kReadAtOnce, file.size() + 1));
  for (std::uint64_t done = 0; std::size_t got = file.read_at(done, piece.data(), piece.size());
       done += got) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
    hasher.update(piece.data(), got);
    if (read) read(got);
  }
  return hasher.finish();
}

}  // namespace

std::string seen_damage(const BlobStore& store, const Digest& digest, std::uint64_t size) {
  auto found = store.size_of(digest);
  if (!found) return "is missing";
  if (*found == size) return "";
  if (*found == 0) return "is empty";
  return fmt::format("has {} of {} bytes", *found, size);
}

std::string read_damage(const BlobStore& store, const Digest& digest, std::optional<std::uint64_t> size,
                        const std::function<void(std::uint64_t bytes)>& read) {
  auto found = store.size_of(digest);
  if (!found) return "is missing";
  if (size && *found != *size) return seen_damage(store, digest, *size);
  try {
    if (digest_of(store.path(digest), read) == digest) return "";
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    throw Error(ExitCode::store, error.message(), error.hint());
  }
  return "does not have the bytes that were written";
}

bool has_bytes_of(const fs::path& file, const Digest& digest) {
  try {
    return digest_of(file, {}) == digest;
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    return false;
  }
}

}  // namespace kiln
