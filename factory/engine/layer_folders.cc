#include "factory/engine/layer_folders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/engine/container_files.h"
#include "factory/engine/engine_session.h"
#include "factory/oci/blob_store.h"
#include "factory/oci/layer_read.h"
#include "factory/oci/sparse_write.h"
#include "factory/os/file_lock.h"

namespace kiln {
namespace {

constexpr mode_t kAllBits = 07777;

void must(int result, const char* doing, const fs::path& path) {
  if (result != 0) fail_with_errno(errno, doing, path);
}

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  fail_with_errno(errno, "read", path);
}

bool is_whiteout(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
}

// In a user namespace overlays are mounted with "userxattr": nobody may write trusted attributes there.
void mark_opaque(const fs::path& folder) {
  if (::lsetxattr(folder.c_str(), "trusted.overlay.opaque", "y", 1, 0) == 0) return;
  must(::lsetxattr(folder.c_str(), "user.overlay.opaque", "y", 1, 0), "mark", folder);
}

void write_file(const fs::path& path, LayerEntries& layer) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) fail_with_errno(errno, "make", path);
  try {
    layer.read_content([&](std::string_view bytes) {
      if (const int problem = write_sparse(file, bytes); problem != 0)
        fail_with_errno(problem, "write", path);
    });
    if (const int problem = finish_sparse(file); problem != 0) fail_with_errno(problem, "write", path);
  } catch (...) {
    ::close(file);
    throw;
  }
  must(::close(file), "write", path);
}

class Unpacker {
 public:
  explicit Unpacker(fs::path root) : root_(std::move(root)) {}

  void add(const LayerEntry& entry, LayerEntries& layer) {
    // As the SIF has them: no device nodes, and none of their hard links.
    if (entry.kind == EntryKind::device ||
        (entry.kind == EntryKind::hard_link && left_out_.contains(entry.target))) {
      left_out_.insert(entry.path);
      return;
    }
    left_out_.erase(entry.path);
    const fs::path place = place_of(entry.path);
    if (entry.kind == EntryKind::whiteout) return white_out(place);
    if (entry.kind == EntryKind::opaque) {
      make_folder(place);
      return mark_opaque(place);
    }
    make(entry, place, layer);
    if (entry.kind != EntryKind::hard_link) set_attributes(entry, place);
    if (entry.kind == EntryKind::folder) times_.emplace_back(place, entry.mtime);
  }

  // What was put into them since has changed their times.
  void finish() const {
    for (const auto& [folder, mtime] : times_)
      if (const auto status = status_of(folder); status && S_ISDIR(status->st_mode)) set_time(folder, mtime);
  }

 private:
  // Nothing that the layer says leads out of the folder, which nobody else writes to.
  fs::path place_of(const std::string& path) {
    const fs::path name(path);
    if (path.empty()) return root_;
    const std::string parent = name.parent_path().string();
    if (parent != parent_ || parent_place_.empty()) {
      // The last name is to be followed as well, so one more stands behind it.
      parent_place_ = parent.empty() ? root_ : resolve_inside(root_, parent + "/x").parent_path();
      parent_ = parent;
      make_folders(parent_place_);
    }
    return parent_place_ / name.filename();
  }

  void make_folders(const fs::path& folder) {
    fs::path at = root_;
    for (const fs::path& name : folder.lexically_relative(root_)) {
      if (name != ".") make_folder(at /= name);
    }
  }

  // One that replaces a whiteout hides what is below.
  static void make_folder(const fs::path& folder) {
    const auto status = status_of(folder);
    if (status && S_ISDIR(status->st_mode)) return;
    if (status && !is_whiteout(*status))
      throw Error(ExitCode::store,
                  fmt::format("{} is no folder, but a layer has files in it", folder.string()));
    if (status) must(::unlink(folder.c_str()), "remove", folder);
    must(::mkdir(folder.c_str(), 0755), "make", folder);
    must(::chmod(folder.c_str(), 0755), "make", folder);
    if (status) mark_opaque(folder);
  }

  static void white_out(const fs::path& place) {
    const auto status = status_of(place);
    if (!status) must(::mknod(place.c_str(), S_IFCHR, makedev(0, 0)), "make", place);
    if (status && S_ISDIR(status->st_mode)) mark_opaque(place);  // of the same layer: it hides what is below
  }

  void make(const LayerEntry& entry, const fs::path& place, LayerEntries& layer) {
    if (entry.kind == EntryKind::folder) {
      if (const auto status = status_of(place); status && !S_ISDIR(status->st_mode) && !is_whiteout(*status))
        remove(place);
      return make_folder(place);
    }
    if (status_of(place)) remove(place);
    switch (entry.kind) {
      case EntryKind::symlink:
        parent_place_.clear();  // it may lie on the way
        return must(::symlink(entry.target.c_str(), place.c_str()), "make", place);
      case EntryKind::hard_link:
        return link(entry, place);
      case EntryKind::fifo:
        return must(::mkfifo(place.c_str(), 0600), "make", place);
      default:
        return write_file(place, layer);
    }
  }

  void remove(const fs::path& place) {
    fs::remove_all(place);
    parent_place_.clear();
  }

  void link(const LayerEntry& entry, const fs::path& place) const {
    const fs::path target = resolve_inside(root_, entry.target);
    if (!status_of(target))
      throw Error(ExitCode::store, fmt::format("/{} is a hard link to a file of another layer, /{}",
                                               entry.path, entry.target));
    must(::link(target.c_str(), place.c_str()), "link", place);
  }

  static void set_attributes(const LayerEntry& entry, const fs::path& place) {
    must(::lchown(place.c_str(), entry.uid, entry.gid), "chown", place);
    for (const auto& [name, value] : entry.xattrs)
      if (::lsetxattr(place.c_str(), name.c_str(), value.data(), value.size(), 0) != 0 && errno != ENOTSUP &&
          errno != EPERM)
        fail_with_errno(errno, "set an attribute of", place);
    if (entry.kind != EntryKind::symlink)
      must(::chmod(place.c_str(), entry.mode & kAllBits), "set the mode of", place);
    set_time(place, entry.mtime);
  }

  static void set_time(const fs::path& place, std::int64_t mtime) {
    const timespec time{mtime, 0};
    const timespec times[2] = {time, time};
    must(::utimensat(AT_FDCWD, place.c_str(), times, AT_SYMLINK_NOFOLLOW), "set the time of", place);
  }

  fs::path root_;
  std::string parent_;  // of the last entry, and where that is; empty: not known
  fs::path parent_place_;
  std::vector<std::pair<fs::path, std::int64_t>> times_;  // of folders
  std::set<std::string> left_out_;                        // device nodes, by their names in the layer
};

constexpr std::size_t kKeyDigits = 24;  // many layers have to fit into one page of mount options
constexpr std::string_view kUnfinished = "new-";

std::string name_of(const std::string& step, int number) {
  return fmt::format("{}-{}", step.substr(0, kKeyDigits), number);
}

}  // namespace

void unpack_layer(const BuiltLayer& layer, const fs::path& blob, const fs::path& folder) try {
  const ReadOnlyFile file(blob);
  LayerReader reader(std::make_unique<LayerStream>(BlobSection{&file, 0, file.size()}, layer.blob,
                                                   layer.diff_id, LayerLimits{}),
                     EntryLimits{}, LayerLimits{});
  Unpacker unpacker(folder);
  LayerEntry entry;
  while (reader.next(entry)) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
    unpacker.add(entry, reader);
  }
  unpacker.finish();
} catch (const fs::filesystem_error& error) {
  throw Error(ExitCode::store, error.what());
} catch (const Error& error) {
  if (error.code() != ExitCode::input) throw;
  // Nobody wrote it but us: whoever runs the step looks at the store then, and takes damage away.
  throw Error(ExitCode::store, fmt::format("layer {}: {}", layer.blob.digest.text(), error.message()));
}

std::vector<std::string> LayerFolders::of(const LayerChain& chain) const {
  std::vector<std::string> names;
  std::map<std::string, int> made;  // by step
  for (const BuiltLayer& layer : chain.layers) names.push_back(name_of(layer.step, made[layer.step]++));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (setup_.files.is_directory(folder_ / names[i])) continue;
    const FileLock lock = FileLock::acquire(EngineSession::import_lock(setup_.store));
    if (setup_.files.is_directory(folder_ / names[i])) continue;  // another process was faster
    unpack(chain.layers[i], names[i], i == 0 ? "" : names[i - 1]);
  }
  std::ranges::reverse(names);
  return names;
}

void LayerFolders::unpack(const BuiltLayer& layer, const std::string& name, const std::string& below) const {
  const fs::path unfinished = folder_ / (std::string(kUnfinished) + unique_name());
  setup_.files.make_directories(unfinished);
  try {
    fs::permissions(unfinished, kRootMode);
    if (!below.empty()) copy_root_attributes(folder_ / below, unfinished);
    unpack_layer(layer, BlobStore::reading(setup_.blob_store).path(layer.blob.digest), unfinished);
    setup_.files.rename(unfinished, folder_ / name);
  } catch (...) {
    std::error_code ignored;  // EngineSession and gc know the name
    fs::remove_all(unfinished, ignored);
    throw;
  }
}

void LayerFolders::adopt(const std::string& step, const fs::path& tree) const {
  const fs::path place = folder_ / name_of(step, 0);
  const fs::path before = folder_ / (std::string(kUnfinished) + unique_name());
  setup_.files.make_directories(folder_);
  if (setup_.files.is_directory(place)) setup_.files.rename(place, before);
  setup_.files.rename(tree, place);
  setup_.files.remove_all(before);
}

std::vector<std::string> LayerFolders::strangers(const fs::path& folder, const std::set<std::string>& steps,
                                                 const FileSystem& files) {
  std::vector<std::string> strangers;
  for (const std::string& name : files.list(folder)) {
    const std::string begin = name.substr(0, name.find('-'));
    const auto step = steps.lower_bound(begin);
    if (begin.size() != kKeyDigits || step == steps.end() || !step->starts_with(begin))
      strangers.push_back(name);
  }
  return strangers;
}

void copy_root_attributes(const fs::path& from, const fs::path& to) {
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) fail_with_errno(errno, "read", from);
  if (::chown(to.c_str(), status.st_uid, status.st_gid) != 0) fail_with_errno(errno, "chown", to);
  if (::chmod(to.c_str(), status.st_mode & 07777) != 0) fail_with_errno(errno, "set the mode of", to);
}

}  // namespace kiln
