#include "factory/state/access.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "factory/base/durable_file.h"

namespace kiln {

void follow_permissions(const StatePaths& state) {
  make_durable_folder(state.root());
  struct stat status {};
  if (::stat(state.root().c_str(), &status) != 0) fail_with_errno(errno, "read", state.root());
  ::umask(~status.st_mode & 077);
}

void need_still_there(const StatePaths& state, const fs::path& made, const FileSystem& files) {
  if (files.exists(made)) return;
  throw Error(ExitCode::store,
              fmt::format("the state folder {} is not there any more: its file system was unmounted, or its "
                          "server is away",
                          state.root().string()),
              "what is done stays done: run the same again when it is back");
}

}  // namespace kiln
