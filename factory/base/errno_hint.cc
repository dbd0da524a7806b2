#include "factory/base/errno_hint.h"

#include <cerrno>

namespace kiln {

std::string hint_for(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space on that file system and run the command again";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the owner and the mode";
    case EFBIG:
      return "raise the limit for the size of files (`ulimit -f`), or use a file system that takes larger "
             "files";
    default:
      return "";
  }
}

}  // namespace kiln
