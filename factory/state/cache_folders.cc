#include "factory/state/cache_folders.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

namespace kiln {
namespace {

constexpr const char* kUses = ".uses";
constexpr std::uint64_t kStatBlock = 512;  // of st_blocks, whatever the file system has

fs::path choosing_lock(const fs::path& root) { return root / "lock"; }

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code gone;  // the tools remove files while we count
  for (fs::recursive_directory_iterator entry(folder, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    struct stat status {};
    if (::lstat(entry->path().c_str(), &status) == 0)
      bytes += static_cast<std::uint64_t>(status.st_blocks) * kStatBlock;
  }
  return bytes;
}

void touch_now(const fs::path& path) {
  // Of the file system, whose clock may be another machine's.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

void need_writable(const fs::path& folder, FileSystem& files) {
  const fs::path probe = folder / ("." + unique_name());
  files.write_output(probe, "");
  files.remove_all(probe);
}

}  // namespace

CacheUse::~CacheUse() {
  if (file_.empty()) return;  // moved from
  std::error_code ignored;    // what stays is unlocked, and goes with the next who looks
  fs::remove(file_, ignored);
}

struct CacheFolders::Kept {
  fs::path folder;
  fs::file_time_type used;
  std::uint64_t bytes = 0;
};

CacheUse CacheFolders::use(const std::string& kind, const std::string& id) {
  const FileLock beginning = FileLock::acquire(choosing_lock(root_));
  const fs::path folder = root_ / kind / id;
  files_.make_directories(folder);
  need_writable(folder, files_);
  const fs::path uses = folder.string() + kUses;
  const fs::path file = uses / unique_name();
  FileLock lock = FileLock::acquire(file);
  lock.write(host_name() + "\n");
  touch_now(uses);
  return {folder, file, std::move(lock)};
}

void CacheFolders::shrink(std::uint64_t most) {
  {
    const FileLock choosing = FileLock::acquire(choosing_lock(root_));
    std::vector<Kept> all = kept();
    std::ranges::sort(all, [](const Kept& a, const Kept& b) { return a.used < b.used; });
    std::uint64_t bytes = 0;
    for (const Kept& one : all) bytes += one.bytes;
    for (const Kept& one : all) {
      if (bytes <= most) break;
      const fs::path uses = one.folder.string() + kUses;
      if (is_used(uses)) continue;
      set_aside(one.folder);
      files_.remove_all(uses);
      bytes -= one.bytes;
    }
  }
  remove_what_is_aside();
}

void CacheFolders::drop(const std::string& kind, const std::string& id) {
  {
    const FileLock choosing = FileLock::acquire(choosing_lock(root_));
    if (files_.is_directory(root_ / kind / id)) set_aside(root_ / kind / id);
  }
  remove_what_is_aside();
}

std::vector<CacheFolders::Kept> CacheFolders::kept() const {
  std::vector<Kept> all;
  for (const std::string& kind : files_.list(root_)) {
    if (kind.starts_with('.') || !files_.is_directory(root_ / kind)) continue;
    for (const std::string& id : files_.list(root_ / kind)) {
      if (id.ends_with(kUses)) continue;
      const fs::path folder = root_ / kind / id;
      std::error_code never;  // used, as far as anybody knows: it is the oldest
      all.push_back({folder, fs::last_write_time(folder.string() + kUses, never), bytes_below(folder)});
    }
  }
  return all;
}

bool CacheFolders::is_used(const fs::path& uses) const {
  for (const std::string& name : files_.list(uses)) {
    const fs::path file = uses / name;
    if (FileLock::of_the_dead(file))
      files_.remove_all(file);
    else if (files_.exists(file))
      return true;
  }
  return false;
}

fs::path CacheFolders::set_aside(const fs::path& folder) const {
  fs::path aside = root_ / ("." + unique_name() + ".tmp");
  files_.rename(folder, aside);
  return aside;
}

// Those of the killed, too. Several may remove one.
void CacheFolders::remove_what_is_aside() const {
  for (const std::string& name : files_.list(root_)) {
    std::error_code of_others;
    if (name.starts_with('.') && name.ends_with(".tmp")) fs::remove_all(root_ / name, of_others);
  }
}

}  // namespace kiln
