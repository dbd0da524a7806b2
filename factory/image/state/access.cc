#include "image/state/access.h"

#include <sys/stat.h>

#include "base/durable_file.h"

namespace kiln {

void follow_permissions(const StatePaths& state) {
  make_durable_folder(state.root());
  struct stat status {};
  if (::stat(state.root().c_str(), &status) != 0) fail_with_errno(errno, "read", state.root());
  ::umask(~status.st_mode & 077);
}

}  // namespace kiln
