// Files and folders that are made aside, and what to do with those that a killed process left behind: their
// maker holds each locked (flock) for as long as it lives.
#pragma once

#include <filesystem>
#include <string>

namespace kiln {

// `<folder>/<prefix><host>-<6 letters or digits>`.
struct LockedTemporary {
  std::filesystem::path path;
  int descriptor = -1;  // locked until it is closed; -1: errno says why
};

// A new one, of mode 0600 or 0700, open for reading and writing. First those go that the dead left in
// `folder` under such names: of this machine all, of others (a shared file system) what was not touched
// for a week. REQUIRES: only callers with this prefix make such names there.
LockedTemporary make_temporary_file(const std::filesystem::path& folder, const std::string& prefix);
LockedTemporary make_temporary_folder(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace kiln
