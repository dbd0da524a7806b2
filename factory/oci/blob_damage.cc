#include "factory/oci/blob_damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "factory/oci/blob.h"

namespace kiln {
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
