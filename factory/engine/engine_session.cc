#include "factory/engine/engine_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "factory/base/text.h"
#include "factory/engine/mount_table.h"
#include "factory/os/plain_folder.h"

namespace kiln {
namespace {

constexpr std::string_view kStart = "kiln-run-";

fs::path file_of(const fs::path& store) { return store / "run-root"; }

// In the run root: of which store it is. A copy of a store names the run root of the first.
fs::path owner_of(const fs::path& run_root) { return run_root / "store"; }

// Where what lives as long as the machine runs may lie, the best first.
fs::path place(const std::map<std::string, std::string>& environment) {
  const auto runtime = environment.find("XDG_RUNTIME_DIR");
  if (runtime != environment.end() && runtime->second.size() <= std::strlen("/run/user/4294967295") &&
      ::access(runtime->second.c_str(), W_OK) == 0)
    return runtime->second;
  return ::access("/run", W_OK) == 0 ? "/run" : "/tmp";
}

bool is_ours(const fs::path& folder) {
  struct stat status {};
  return folder.filename().string().starts_with(kStart) && ::lstat(folder.c_str(), &status) == 0 &&
         S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

}  // namespace

// File systems number a copy's folder anew. The time when it was made tells two file systems apart, where
// they know it.
std::string store_mark(const std::filesystem::path& store) {
  struct statx status {};
  if (::statx(AT_FDCWD, store.c_str(), 0, STATX_INO | STATX_BTIME, &status) != 0) return "";
  std::string mark = fmt::format("inode {}", status.stx_ino);
  if ((status.stx_mask & STATX_BTIME) != 0)
    mark += fmt::format(", made {}.{:09}", status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
  return mark;
}

void delete_engine_folders(const fs::path& store, CommandRunner& runner, FileSystem& files,
                           const std::map<std::string, std::string>& environment) {
  std::vector<fs::path> folders = {store};
  if (auto run_root = run_root_of(store, files)) folders.push_back(*std::move(run_root));
  const std::string mounted = files.read("/proc/self/mountinfo").value_or("");
  for (const fs::path& folder : folders)
    for (const fs::path& mount : mounts_inside(mounted, folder)) {
      Command command;
      command.argv = {"umount", "--lazy", mount.string()};
      command.environment = environment;
      const CommandResult result = runner.run(command);
      if (!result.ok())
        throw Error(ExitCode::store,
                    fmt::format("cannot unmount {}, left by a killed engine: {}", mount.string(),
                                last_lines(result.tail, 1)),
                    "unmount it by hand; the folder " + store.string() + " may be deleted");
    }
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) files.remove_all(*folder);
}

EngineSession::EngineSession(CommandRunner& runner, FileSystem& files, fs::path store,
                             const std::map<std::string, std::string>& environment)
    : files_(files), store_(std::move(store)) {
  fs::path sessions = store_.string() + ".sessions";
  FileLock beginning = FileLock::acquire(store_.string() + ".lock");
  std::vector<fs::path> dead;
  bool is_alone = true;
  for (const std::string& name : files_.list(sessions)) {
    if (FileLock::of_the_dead(sessions / name))
      dead.push_back(sessions / name);
    else
      is_alone = false;
  }
  if (is_alone && (!dead.empty() || is_foreign() || hands_down(store_))) {
    delete_engine_folders(store_, runner, files_, environment);
    for (const fs::path& file : dead) files_.remove_all(file);
  }
  make_plain_folder(store_);
  if (!files_.exists(store_ / "boot")) files_.write_output(store_ / "boot", origin());
  met_dead_ = !dead.empty();
  file_ = sessions / unique_name();
  lock_ = FileLock::acquire(file_);
}

EngineSession::~EngineSession() {
  if (!is_clean_) return;
  std::error_code problem;  // a file that stays only costs the next session its cache
  fs::remove(file_, problem);
}

std::string EngineSession::origin() const {
  return files_.read("/proc/sys/kernel/random/boot_id").value_or("") + store_mark(store_) + "\n";
}

bool EngineSession::is_foreign() const {
  return !files_.list(store_).empty() && files_.read(store_ / "boot").value_or("") != origin();
}

std::optional<fs::path> run_root_of(const fs::path& store, const FileSystem& files) {
  const std::optional<std::string> text = files.read(file_of(store));
  if (!text || !is_ours(*text) || files.read(owner_of(*text)) != store_mark(store)) return std::nullopt;
  return fs::path(*text);
}

fs::path make_run_root(const fs::path& store, FileSystem& files,
                       const std::map<std::string, std::string>& environment) {
  if (const auto there = run_root_of(store, files)) return *there;
  const FileLock lock = FileLock::acquire(EngineSession::import_lock(store));
  if (const auto there = run_root_of(store, files)) return *there;  // another process was faster
  std::string name = (place(environment) / (std::string(kStart) + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(ExitCode::store, fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  files.make_directories(store);  // a folder that is missing has no mark
  files.write_output(owner_of(name), store_mark(store));
  files.write_output(file_of(store), name);
  return name;
}

}  // namespace kiln
