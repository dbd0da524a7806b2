#include "factory/derive/folder_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "factory/base/error.h"
#include "factory/base/read_whole.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kTime = 315532800;  // 1980-01-01T00:00:00Z, as of layers

[[noreturn]] void refuse(const fs::path& path, std::string message, std::string hint = "") {
  throw Error(ExitCode::input, SourceLocation{path.string(), 0, 0, ""}, std::move(message), std::move(hint));
}

class FolderArchive {
 public:
  FolderArchive(fs::path root, fs::path but) : root_(std::move(root)), but_(std::move(but)) {
    // As layers are written (oci/layer_tar.cc): ustar, and PAX records only for what does not fit.
    check(archive_write_set_format_pax_restricted(archive_.get()));
    check(archive_write_set_options(archive_.get(), "hdrcharset=BINARY"));
    check(archive_write_set_bytes_in_last_block(archive_.get(), 1));
    check(archive_write_open(archive_.get(), this, nullptr, &FolderArchive::take, nullptr));
  }

  std::string write() {
    add_folder("");
    check(archive_write_close(archive_.get()));
    return std::move(bytes_);
  }

 private:
  static la_ssize_t take(archive*, void* self, const void* bytes, std::size_t size) {
    static_cast<FolderArchive*>(self)->bytes_.append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
  }

  void check(int result) const {
    if (result < ARCHIVE_OK) refuse(root_, archive_error_string(archive_.get()));
  }

  void add_folder(const fs::path& below) {
    std::vector<std::string> names;
    std::error_code problem;
    for (fs::directory_iterator at(root_ / below, problem), end; !problem && at != end; at.increment(problem))
      names.push_back(at->path().filename().string());
    if (problem) refuse(root_ / below, fmt::format("cannot be read: {}", problem.message()));
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
      if (name != ".git" && name != "__pycache__") add(below / name);
  }

  void add(const fs::path& path) {
    struct stat status {};
    if (::lstat((root_ / path).c_str(), &status) != 0) refuse(root_ / path, "cannot be read");
    if (path.filename().string().starts_with(".wh."))
      refuse(root_ / path, "cannot be kept in an image",
             "names that begin with .wh. mean deletion in layers");
    archive_entry_clear(entry_.get());
    archive_entry_set_pathname(entry_.get(), path.c_str());
    archive_entry_set_mtime(entry_.get(), kTime, 0);
    if (S_ISDIR(status.st_mode)) {
      std::error_code problem;
      if (!but_.empty() && fs::equivalent(root_ / path, but_, problem)) return;
      header(AE_IFDIR, 0755);
      return add_folder(path);
    }
    if (S_ISLNK(status.st_mode)) {
      archive_entry_set_symlink(entry_.get(), fs::read_symlink(root_ / path).c_str());
      return header(AE_IFLNK, 0777);
    }
    if (!S_ISREG(status.st_mode))
      refuse(root_ / path, "is neither a file nor a folder nor a symbolic link",
             "leave it out of the folder");
    add_file(path, (status.st_mode & S_IXUSR) != 0);
  }

  void add_file(const fs::path& path, bool is_program) {
    const std::uint64_t left = kMostArchive - std::min<std::uint64_t>(bytes_.size(), kMostArchive);
    std::error_code problem;
    if (fs::file_size(root_ / path, problem) > left)
      refuse(root_, fmt::format("the folder has more than {} MiB", kMostArchive >> 20),
             "images hold programs; leave data on the storage that jobs mount");
    if (::access((root_ / path).c_str(), R_OK) != 0)
      refuse(root_ / path, fmt::format("cannot be read: {}", std::strerror(errno)));
    const std::string bytes = read_whole(root_ / path, kMostArchive).value_or("");
    archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(bytes.size()));
    header(AE_IFREG, is_program ? 0755 : 0644);
    if (archive_write_data(archive_.get(), bytes.data(), bytes.size()) !=
        static_cast<la_ssize_t>(bytes.size()))
      check(ARCHIVE_FATAL);
  }

  void header(unsigned type, unsigned mode) {
    archive_entry_set_filetype(entry_.get(), type);
    archive_entry_set_perm(entry_.get(), mode);
    check(archive_write_header(archive_.get(), entry_.get()));
  }

  fs::path root_;
  fs::path but_;  // left out
  std::string bytes_;
  std::unique_ptr<archive, int (*)(archive*)> archive_{archive_write_new(), &archive_write_free};
  std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry_{archive_entry_new(), &archive_entry_free};
};

}  // namespace

std::string folder_archive(const fs::path& folder, const fs::path& but) {
  std::error_code problem;
  if (!fs::is_directory(folder, problem)) refuse(folder, "there is no such folder");
  if (fs::is_empty(folder, problem)) refuse(folder, "the folder is empty");
  return FolderArchive(folder, but).write();
}

}  // namespace kiln
