#include "factory/engine/mount_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "factory/base/text.h"

namespace kiln {
namespace {

struct MountLine {
  fs::path mount_point;
  std::string type;
  std::string options;  // of the superblock
};

// Blanks, newlines and backslashes are \ooo in mountinfo.
std::string undo_octal(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool is_escape =
        text[i] == '\\' && i + 3 < text.size() &&
        std::all_of(text.begin() + i + 1, text.begin() + i + 4, [](char c) { return c >= '0' && c <= '7'; });
    if (!is_escape) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

// `36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
std::vector<MountLine> lines_of(std::string_view mountinfo) {
  std::vector<MountLine> mounts;
  std::istringstream text{std::string(mountinfo)};
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string word;
    MountLine mount;
    for (int i = 0; i < 5 && words >> word; ++i)
      if (i == 4) mount.mount_point = undo_octal(word);
    while (words >> word && word != "-") continue;
    std::string source;
    if (words >> mount.type >> source >> mount.options) mounts.push_back(std::move(mount));
  }
  return mounts;
}

// Splits at unescaped separators; overlayfs escapes `,` and `:` in names by a backslash.
std::vector<std::string> split_unescaped(std::string_view text, char separator, bool keep_escapes) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (keep_escapes) parts.back() += text[i];
      parts.back() += text[++i];
    } else if (text[i] == separator) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

std::string options_of(const ChangedTree& tree, const OverlayFolders& place, bool is_inside) {
  auto name = [&](const fs::path& path) { return path.lexically_relative(place.storage).string(); };
  std::string below;
  for (const fs::path& one : tree.below) below += (below.empty() ? "" : ":") + name(one);
  return fmt::format("lowerdir={},upperdir={},workdir={},{}", below, name(tree.folder), name(place.work),
                     // References in place of files would be no layer.
                     is_inside ? "userxattr" : "redirect_dir=off,metacopy=off,index=off");
}

}  // namespace

std::optional<ChangedTree> overlay_at(std::string_view mountinfo, const fs::path& mount_point,
                                      const fs::path& storage) {
  std::vector<MountLine> mounts = lines_of(mountinfo);
  auto found = std::find_if(mounts.rbegin(), mounts.rend(), [&](const MountLine& mount) {
    return mount.mount_point == mount_point && mount.type == "overlay";
  });
  if (found == mounts.rend()) return std::nullopt;
  ChangedTree tree;  // `storage / X` is X where that is absolute
  for (const std::string& option : split_unescaped(undo_octal(found->options), ',', true)) {
    auto value_of = [&](std::string_view name) {
      return option.starts_with(name) ? option.substr(name.size()) : std::string();
    };
    if (std::string upper = value_of("upperdir="); !upper.empty())
      tree.folder = storage / split_unescaped(upper, '\0', false).front();
    std::string lower = value_of("lowerdir=") + value_of("lowerdir+=");
    if (lower.empty()) continue;
    for (const std::string& folder : split_unescaped(lower, ':', false))
      if (!folder.empty()) tree.below.push_back(storage / folder);
  }
  if (tree.folder.empty()) return std::nullopt;
  return tree;
}

std::vector<fs::path> mounts_inside(std::string_view mountinfo, const fs::path& folder) {
  std::string prefix = folder.lexically_normal().string();
  if (!prefix.ends_with('/')) prefix += '/';
  std::vector<fs::path> inside;
  for (const MountLine& mount : lines_of(mountinfo))
    if ((mount.mount_point.string() + "/").starts_with(prefix)) inside.push_back(mount.mount_point);
  std::ranges::reverse(inside);
  std::ranges::stable_sort(inside, [](const fs::path& a, const fs::path& b) {
    return std::distance(a.begin(), a.end()) > std::distance(b.begin(), b.end());
  });
  return inside;
}

bool root_is_mounted(std::string_view mountinfo) {
  const std::vector<MountLine> mounts = lines_of(mountinfo);
  return mounts.empty() ||
         std::ranges::any_of(mounts, [](const MountLine& mount) { return mount.mount_point == "/"; });
}

// The whole range of ids is mapped to itself outside of any.
bool is_in_user_namespace(const FileSystem& files) {
  const std::string map = files.read("/proc/self/uid_map").value_or("");
  return !map.empty() && map.find("4294967295") == std::string::npos;
}

void OverlayMount::mount(const ChangedTree& tree, OverlayFolders place) {
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
