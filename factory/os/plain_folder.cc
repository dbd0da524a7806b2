#include "factory/os/plain_folder.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"

namespace kiln {
namespace {

constexpr const char* kDefaultAcl = "system.posix_acl_default";  // acl(5), as the kernel keeps it

bool has_default_acl(const fs::path& folder) {
  return ::getxattr(folder.c_str(), kDefaultAcl, nullptr, 0) > 0;
}

}  // namespace

// The group goes to new files with the bit, and on file systems that are mounted with "grpid" without it.
bool hands_down(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return false;
  return (status.st_mode & S_ISGID) != 0 || status.st_gid != ::getegid() || has_default_acl(folder);
}

void make_plain_folder(const fs::path& folder) {
  RealFileSystem().make_directories(folder);
  if (!hands_down(folder)) return;
  if (has_default_acl(folder) && ::removexattr(folder.c_str(), kDefaultAcl) != 0 && errno != ENODATA)
    fail_with_errno(errno, "remove the default ACL of", folder);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) fail_with_errno(errno, "read", folder);
  if (status.st_gid != ::getegid() && ::chown(folder.c_str(), static_cast<uid_t>(-1), ::getegid()) != 0)
    fail_with_errno(errno, "set the group of", folder);
  if (::chmod(folder.c_str(), status.st_mode & (07777 & ~S_ISGID)) != 0)
    fail_with_errno(errno, "set the mode of", folder);
}

}  // namespace kiln
