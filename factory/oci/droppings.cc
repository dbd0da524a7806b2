// What package managers and engines leave behind, path by path.
#include <algorithm>
#include <array>

#include "factory/oci/overlay_tree.h"

namespace kiln {
namespace {

bool is_inside(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// Nothing inside belongs to an image: made anew at each start or download.
constexpr std::array kEmptied = {"run",  "tmp", "var/tmp",     "var/lib/apt/lists",
                                 "proc", "sys", "root/.cache", "var/cache/man"};
// Files go, folders stay: apt and daemons fail when these are missing.
constexpr std::array kWithoutFiles = {"var/cache/apt", "var/log"};
constexpr std::array kFiles = {"var/cache/ldconfig/aux-cache", "root/.wget-hsts", "root/.bash_history",
                               "root/.python_history"};
// Backups of the last but one state, "<name>-old".
constexpr std::array kBackups = {"var/lib/dpkg", "var/cache/debconf"};

}  // namespace

bool is_dropping(std::string_view path, bool is_folder) {
  if (path == "run/lock") return !is_folder;  // /var/lock points here
  auto holds = [&](std::string_view folder) { return is_inside(path, folder); };
  if (std::any_of(kEmptied.begin(), kEmptied.end(), holds)) return true;
  if (is_folder) return false;
  return std::any_of(kWithoutFiles.begin(), kWithoutFiles.end(), holds) ||
         std::find(kFiles.begin(), kFiles.end(), path) != kFiles.end() ||
         (path.ends_with("-old") && std::any_of(kBackups.begin(), kBackups.end(), holds));
}

}  // namespace kiln
