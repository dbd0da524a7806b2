#include "factory/run/event_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln {

EventReader::EventReader(const std::filesystem::path& fifo, Progress& progress) : progress_(progress) {
  ::unlink(fifo.c_str());
  if (::mkfifo(fifo.c_str(), 0600) == 0) fd_ = ::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  thread_ = std::thread([this] { loop(); });
}

EventReader::~EventReader() {
  stop_ = true;
  thread_.join();
  if (fd_ >= 0) ::close(fd_);
}

void EventReader::loop() {
  std::string pending;
  while (!stop_) {
    pollfd poll_fd{fd_, POLLIN, 0};
    ::poll(&poll_fd, 1, 100);
    char buffer[4096];
    ssize_t got = fd_ >= 0 ? ::read(fd_, buffer, sizeof buffer) : 0;
    if (got > 0) pending.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1))
      if (auto event = step_event_from_line(std::string_view(pending).substr(0, end)))
        progress_.event(*event);
    tell_of_interrupt();
    progress_.tick();
  }
}

void EventReader::tell_of_interrupt() {
  if (told_ || !interrupted()) return;
  told_ = true;
  progress_.note("interrupted: waiting until the running steps have cleaned up (again: no longer)");
}

}  // namespace kiln
