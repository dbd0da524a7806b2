#include "image/engine/script_pipes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/durable_file.h"

namespace kiln {
namespace {

int open_fifo(const std::filesystem::path& fifo) {
  // Whoever the script becomes may open what is its own stdout; the folder keeps all others out.
  if (::mkfifo(fifo.c_str(), 0600) != 0 || ::chmod(fifo.c_str(), 0622) != 0)
    fail_with_errno(errno, "make", fifo);
  const int end = ::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (end < 0) fail_with_errno(errno, "open", fifo);
  return end;
}

}  // namespace

ScriptPipes::ScriptPipes(std::filesystem::path folder) : folder_(std::move(folder)) {
  ends_ = {open_fifo(out()), open_fifo(err())};
  begun_ = open_fifo(begun());
}

bool ScriptPipes::has_begun() const {
  char byte = 0;
  return ::read(begun_, &byte, 1) == 1;
}

ScriptPipes::~ScriptPipes() {
  for (int end : {ends_[0], ends_[1], begun_}) ::close(end);
  for (const std::filesystem::path& fifo : {out(), err(), begun()}) ::unlink(fifo.c_str());
}

}  // namespace kiln
