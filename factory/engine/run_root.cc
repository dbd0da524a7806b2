#include "factory/engine/run_root.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "factory/engine/engine_session.h"
#include "factory/engine/store_mark.h"
#include "factory/os/file_lock.h"

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
