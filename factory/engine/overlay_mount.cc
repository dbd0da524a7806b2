#include "factory/engine/overlay_mount.h"

#include <fmt/format.h>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::string options_of(const ChangedTree& tree, const OverlayPlace& place, bool is_inside) {
  auto name = [&](const fs::path& path) { return path.lexically_relative(place.storage).string(); };
  std::string below;
  for (const fs::path& one : tree.below) below += (below.empty() ? "" : ":") + name(one);
  return fmt::format("lowerdir={},upperdir={},workdir={},{}", below, name(tree.folder), name(place.work),
                     // References in place of files would be no layer.
                     is_inside ? "userxattr" : "redirect_dir=off,metacopy=off,index=off");
}

}  // namespace

// The whole range of ids is mapped to itself outside of any.
bool is_in_user_namespace(const FileSystem& files) {
  const std::string map = files.read("/proc/self/uid_map").value_or("");
  return !map.empty() && map.find("4294967295") == std::string::npos;
}

void OverlayMount::mount(const ChangedTree& tree, OverlayPlace place) {
  if (place.unsynced) files_.remove_all(place.work);
  for (const fs::path& folder : {place.at, place.work, place.storage}) files_.make_directories(folder);
  const std::string options = options_of(tree, place, is_in_user_namespace(files_));
  CommandResult result;
  for (const char* more : {",volatile", ""}) {
    if (*more != '\0' && !place.unsynced) continue;
    result =
        call({"mount", "-t", "overlay", "overlay", "-o", options + more, place.at.string()}, place.storage);
    if (result.ok()) break;
  }
  if (!result.ok())  // mount(8) has a second line, which sends the reader to dmesg(1)
    throw Error(ExitCode::store, "cannot mount an overlay: " + result.tail.substr(0, result.tail.find('\n')),
                "it takes root, or Linux 5.11, and a state folder on a local disk");
  place_ = std::move(place);
  is_mounted_ = true;
}

void OverlayMount::unmount() {
  if (!is_mounted_) return;
  const CommandResult result = call({"umount", place_.at.string()});
  if (!result.ok())
    throw Error(ExitCode::store,
                fmt::format("cannot unmount {}: {}", place_.at.string(), last_lines(result.tail, 1)));
  is_mounted_ = false;
  std::error_code ignored;  // an empty folder is in nobody's way
  fs::remove(place_.at, ignored);
  if (place_.unsynced) files_.remove_all(place_.work);
}

CommandResult OverlayMount::call(std::vector<std::string> argv, const fs::path& folder) {
  Command command;
  command.argv = std::move(argv);
  command.folder = folder;
  command.environment = environment_;
  command.despite_interrupt = true;
  CommandResult result = runner_.run(command);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return result;
}

}  // namespace kiln
