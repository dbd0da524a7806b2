#include "factory/pages/page_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string_view>

#include "factory/base/durable_file.h"
#include "factory/base/temporary_files.h"

namespace kiln {
namespace {

// Says that a folder is an export, and of which snapshot: whoever finds it there may replace the folder.
constexpr std::string_view kMarkFile = "kiln-catalogue.json";

std::string mark_text(const PageContent& content) {
  return fmt::format("{{\"format\": 1, \"images\": {}, \"snapshot\": {}}}\n", content.entries.size(),
                     content.snapshot);
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw Error(ExitCode::usage, fmt::format("{} {}", folder.string(), why),
              "name a folder that is not there, an empty one, or an earlier export");
}

// Nobody's files are taken away: a folder is replaced if it is empty or holds an export and nothing beside
// it.
void check_place(const fs::path& folder, const CataloguePages& pages, const FileSystem& files) {
  std::error_code problem;
  const fs::file_status status = fs::status(folder, problem);
  if (status.type() == fs::file_type::not_found) return;
  if (problem) throw Error(ExitCode::store, fmt::format("{}: {}", folder.string(), problem.message()));
  if (!fs::is_directory(status)) refuse(folder, "is no folder");
  const std::vector<std::string> names = files.list(folder);
  if (names.empty()) return;
  if (!files.exists(folder / kMarkFile)) refuse(folder, "holds something that is no export");
  std::set<std::string> own = {std::string(kMarkFile), "assets", "images", "mappings", "nights"};
  for (const std::string& path : pages.paths()) own.insert(path.substr(0, path.find('/')));
  for (const std::string& name : names)
    if (!own.contains(name)) refuse(folder, fmt::format("holds '{}', which no export has", name));
}

// The private folder; gone with this object, with whatever is in it then.
class PrivateFolder {
 public:
  explicit PrivateFolder(const fs::path& beside)
      : made_(make_temporary_folder(beside.parent_path(), "." + beside.filename().string() + ".new-")) {
    if (made_.descriptor < 0) fail_with_errno(errno, "cannot make a folder beside", beside);
  }
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(made_.path, ignored);
    ::close(made_.descriptor);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const fs::path& path() const { return made_.path; }

  // As open as any folder that this user makes.
  void open_up() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::chmod(path().c_str(), 0777 & ~mask) != 0)
      fail_with_errno(errno, "cannot change the mode of", path());
  }

  // Afterwards what was at `folder` is in here, and goes with it.
  void put_at(const fs::path& folder) {
    if (::renameat2(AT_FDCWD, path().c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) return;
    // Not there yet; an empty folder is replaced as well. File systems that cannot exchange say EINVAL.
    if (errno != ENOENT && errno != EINVAL && errno != ENOSYS)
      fail_with_errno(errno, "cannot replace", folder);
    if (::rename(path().c_str(), folder.c_str()) == 0) return;
    if (errno != ENOTEMPTY && errno != EEXIST) fail_with_errno(errno, "cannot rename to", folder);
    const fs::path old = path().string() + ".old";
    if (::rename(folder.c_str(), old.c_str()) != 0 || ::rename(path().c_str(), folder.c_str()) != 0)
      fail_with_errno(errno, "cannot replace", folder);
    std::error_code ignored;
    fs::remove_all(old, ignored);
  }

 private:
  Temporary made_;
};

}  // namespace

WrittenPages write_pages(const CataloguePages& pages, const fs::path& folder, FileSystem& files) {
  fs::path place = fs::weakly_canonical(fs::absolute(folder));
  if (place.filename().empty()) place = place.parent_path();
  if (place == place.root_path()) refuse(folder, "is the root of the file system");
  check_place(place, pages, files);
  files.make_directories(place.parent_path());
  PrivateFolder made(place);
  WrittenPages written;
  const auto write = [&](const std::string& path, const std::string& bytes) {
    files.write_output(made.path() / path, bytes);
    ++written.files;
    written.bytes += bytes.size();
  };
  for (const std::string& path : pages.paths()) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted; nothing was changed");
    if (const auto page = pages.page(path)) write(path, page->bytes);
  }
  write(std::string(kMarkFile), mark_text(pages.content()));
  made.open_up();
  made.put_at(place);
  return written;
}

}  // namespace kiln
