#include "factory/state/access.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "factory/base/durable_file.h"
#include "factory/base/text.h"

namespace kiln {

void follow_permissions(const StatePaths& state) {
  make_durable_folder(state.root());
  struct stat status {};
  if (::stat(state.root().c_str(), &status) != 0) fail_with_errno(errno, "read", state.root());
  ::umask(~status.st_mode & 077);
}

std::string engine_path_trouble(const fs::path& path, EngineUse use) {
  // Mounts are SOURCE:TARGET (Apptainer's are quoted). Options of overlays have colons and commas, and escape
  // with a backslash; buildah looks up what it adds as a pattern.
  const std::string_view special = use == EngineUse::mount ? ":\\" : ":,\\[";
  const std::string text = path.string();
  if (first_not_utf8(text) != std::string::npos) return "it is not UTF-8";
  if (const auto control = std::ranges::find_if(text, is_control); control != text.end())
    return fmt::format("it has the control character U+{:04X} in it", static_cast<unsigned>(*control));
  const std::size_t taken = text.find_first_of(special);
  return taken == std::string::npos ? "" : fmt::format("it has '{}' in it", text[taken]);
}

void need_engine_path(const fs::path& path, EngineUse use, const std::string& what, const std::string& hint) {
  const std::string trouble = engine_path_trouble(path, use);
  if (trouble.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("{} cannot be {}: {}, and container engines take no such path", what, path.string(),
                          trouble),
              hint);
}

void need_still_there(const StatePaths& state, const fs::path& made, const FileSystem& files) {
  if (files.exists(made)) return;
  throw Error(ExitCode::store,
              fmt::format("the state folder {} is missing: its file system was unmounted, or its "
                          "server is away",
                          state.root().string()),
              "finished steps stay: run the same command again when the folder is back");
}

}  // namespace kiln
