// Folders whose files have the modes, groups and attributes that their makers give them. New files inherit
// the set-group-id bit, the group and the default ACL of their folder; project folders of a site have them.
// Files of an image must not inherit them, because equal keys would make other bits there.
#pragma once

#include <filesystem>

namespace kiln {

// Whether new files in the folder inherit something from it. False if the folder is missing.
bool hands_down(const std::filesystem::path& folder);

// Makes the folder and its missing parents, and removes the attributes that its files would inherit. Throws
// Error(store).
void make_plain_folder(const std::filesystem::path& folder);

}  // namespace kiln
