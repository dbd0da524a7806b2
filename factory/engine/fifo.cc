#include "factory/engine/fifo.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "factory/base/durable_file.h"

namespace kiln {

// The mode: whoever a script becomes may open what is its own stdout.
Fifo::Fifo(std::filesystem::path path) : path_(std::move(path)) {
  if (::mkfifo(path_.c_str(), 0600) != 0 || ::chmod(path_.c_str(), 0622) != 0)
    fail_with_errno(errno, "make", path_);
  end_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (end_ < 0) fail_with_errno(errno, "open", path_);
}

Fifo::~Fifo() {
  ::close(end_);
  ::unlink(path_.c_str());
}

}  // namespace kiln
