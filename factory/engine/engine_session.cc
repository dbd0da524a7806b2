#include "factory/engine/engine_session.h"

#include <fmt/format.h>

#include "factory/base/text.h"
#include "factory/base/unique_name.h"
#include "factory/engine/mount_table.h"
#include "factory/engine/run_root.h"
#include "factory/engine/store_mark.h"
#include "factory/os/plain_folder.h"

namespace kiln {

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

}  // namespace kiln
