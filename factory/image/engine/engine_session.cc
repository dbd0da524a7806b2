#include "image/engine/engine_session.h"

#include <fmt/format.h>

#include "base/unique_name.h"
#include "image/engine/mount_table.h"

namespace kiln {

EngineSession::EngineSession(CommandRunner& runner, FileSystem& files, fs::path store,
                             const std::map<std::string, std::string>& environment)
    : runner_(runner), files_(files), store_(std::move(store)) {
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
  const std::string boot = files_.read("/proc/sys/kernel/random/boot_id").value_or("");
  if (is_alone && (!dead.empty() || is_of_another_boot(boot))) {
    delete_store(environment);
    for (const fs::path& file : dead) files_.remove_all(file);
  }
  files_.make_directories(store_);
  if (!files_.exists(store_ / "boot")) files_.write_output(store_ / "boot", boot);
  file_ = sessions / unique_name();
  lock_ = FileLock::acquire(file_);
}

EngineSession::~EngineSession() {
  if (!is_clean_) return;
  std::error_code problem;  // a file that stays only costs the next session its cache
  fs::remove(file_, problem);
}

bool EngineSession::is_of_another_boot(const std::string& boot) const {
  return !files_.list(store_).empty() && files_.read(store_ / "boot").value_or("") != boot;
}

void EngineSession::delete_store(const std::map<std::string, std::string>& environment) {
  for (const fs::path& mount : mounts_inside(files_.read("/proc/self/mountinfo").value_or(""), store_)) {
    Command command;
    command.argv = {"umount", "--lazy", mount.string()};
    command.environment = environment;
    CommandResult result = runner_.run(command);
    if (result.ok()) continue;
    throw Error(ExitCode::store,
                fmt::format("cannot unmount {}, left by a killed engine: {}", mount.string(), result.tail),
                "unmount it by hand; the folder " + store_.string() + " may be deleted");
  }
  files_.remove_all(store_);
}

}  // namespace kiln
