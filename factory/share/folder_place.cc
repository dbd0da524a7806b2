#include "factory/share/folder_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "factory/base/durable_file.h"
#include "factory/base/read_whole.h"
#include "factory/oci/blob_damage.h"

namespace kiln {
namespace {

constexpr std::string_view kEnvelopeEnding = ".json";

struct OpenFile {
  // No link is followed at its end; absent: nothing is open.
  OpenFile(const fs::path& path, int flags) : number(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC)) {
    if (number < 0 && errno != ENOENT) fail_with_errno(errno, "open", path);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
  int number;
};

// The same file, whatever its name stands for by now.
fs::path path_of(const OpenFile& file) { return fmt::format("/proc/self/fd/{}", file.number); }

}  // namespace

std::string foreign_hand(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::strerror(errno);
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return fmt::format("belongs to the user {}", status.st_uid);
  if ((status.st_mode & S_IWOTH) != 0) return "may be written by everybody";
  if ((status.st_mode & S_IWGRP) != 0) return "may be written by its group";
  return "";
}

void FolderPlace::need_folder() const {
  if (!files_.is_directory(folder_))
    throw Error(ExitCode::network, fmt::format("there is no folder {}", folder_.string()),
                "it is not made by kiln, which would take a mount point for it");
}

std::set<std::string> FolderPlace::names() {
  need_folder();
  std::set<std::string> names;
  for (const std::string& name : files_.list(records()))
    if (name.ends_with(kEnvelopeEnding)) names.insert(name.substr(0, name.size() - kEnvelopeEnding.size()));
  return names;
}

std::optional<SharedPlace::Found> FolderPlace::find(const SharedName& name) {
  need_folder();
  // Non-blocking: a pipe in its place would wait for a writer.
  const OpenFile file(record(name.text()), O_RDONLY | O_NONBLOCK);
  if (file.number < 0) return std::nullopt;
  struct stat status {};
  if (::fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(ExitCode::input, "its record there is no file");
  Found found;
  found.used = rfc3339(status.st_mtime);
  if (is_private_) {
    const OpenFile folder(records(), O_RDONLY | O_DIRECTORY);
    found.why_not = foreign_hand(file.number);
    if (found.why_not.empty() && folder.number >= 0) found.why_not = foreign_hand(folder.number);
    found.is_ours = found.why_not.empty();
  }
  auto bytes = read_whole(path_of(file), kMostEnvelope);
  if (!bytes) return std::nullopt;
  found.envelope = *std::move(bytes);
  return found;
}

bool FolderPlace::fetch(const Descriptor& blob, const BlobStore& store) {
  const BlobStore shared = BlobStore::reading(folder_);
  const auto size = shared.size_of(blob.digest);
  if (!size) return false;
  if (*size != blob.size)
    throw Error(ExitCode::store,
                fmt::format("{} has {} of {} bytes there", blob.digest.text(), *size, blob.size));
  store.put_file(shared.path(blob.digest), blob.media_type, blob.digest);
  return true;
}

// What lies there with another size, or was found to have other bytes, is replaced.
void FolderPlace::put(const SharedName& name, const std::string& envelope, const std::string& /*made*/,
                      const std::vector<Descriptor>& blobs, const BlobStore& store, bool mends) {
  need_folder();
  const BlobStore shared(folder_);
  for (const Descriptor& blob : blobs) {
    if (shared.size_of(blob.digest) == blob.size &&
        (!mends || has_bytes_of(shared.path(blob.digest), blob.digest)))
      continue;
    shared.remove(blob.digest);
    shared.put_file(store.path(blob.digest), blob.media_type, blob.digest);
  }
  files_.write(record(name.text()), envelope);
}

void FolderPlace::touch(const SharedName& name, const std::string& /*now*/) {
  const OpenFile file(record(name.text()), O_RDONLY | O_NONBLOCK);
  if (file.number >= 0 && ::futimens(file.number, nullptr) != 0 && errno != EROFS)
    fail_with_errno(errno, "touch", record(name.text()));
}

std::map<std::string, std::string> FolderPlace::used() {
  std::map<std::string, std::string> used;
  for (const std::string& name : names()) {
    if (!shared_name(name)) continue;
    struct stat status {};
    if (::lstat(record(name).c_str(), &status) == 0) used.emplace(name, rfc3339(status.st_mtime));
  }
  return used;
}

void FolderPlace::remove(const std::set<std::string>& names) {
  for (const std::string& name : names) files_.remove_all(record(name));
  if (!names.empty()) remove_unnamed_blobs();
}

// Where a record cannot be read, kiln cannot know what it needs, and all blobs stay. A young one may be
// waiting for its record.
void FolderPlace::remove_unnamed_blobs() const {
  constexpr auto kYoung = std::chrono::hours(24);
  const BlobStore shared(folder_);
  std::set<Digest> named;
  for (const std::string& file : files_.list(records())) {
    const auto name = shared_name(file.substr(0, file.rfind('.')));
    const auto text = files_.read(records() / file, kMostEnvelope);
    if (!name || !text || name->is_test) continue;
    const SharedRecord opened = open_shared(*name, *text, {}).shared;
    for (const BuiltLayer& layer : std::get<StepRecord>(opened.record).chain.layers)
      named.insert(layer.blob.digest);
  }
  for (const Digest& blob : shared.blobs()) {
    std::error_code gone;
    const auto changed = fs::last_write_time(shared.path(blob), gone);
    if (!named.contains(blob) && !gone && fs::file_time_type::clock::now() - changed > kYoung)
      shared.remove(blob);
  }
}

}  // namespace kiln
