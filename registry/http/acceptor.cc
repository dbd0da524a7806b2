#include "registry/http/acceptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "factory/base/error.h"

namespace kiln {
namespace {

constexpr int kPause = 10;  // milliseconds, while there is no descriptor
constexpr int kRound = 64;  // are taken before we ask whether to stop

}  // namespace

Acceptor::Acceptor(int listening, std::function<void(const Comer&)> take)
    : listening_(listening), take_(std::move(take)) {
  told_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (told_ < 0) throw Error(ExitCode::network, fmt::format("cannot serve: {}", std::strerror(errno)));
  // Another process may share it, and be quicker (systemd's sockets).
  ::fcntl(listening_, F_SETFL, ::fcntl(listening_, F_GETFL) | O_NONBLOCK);
  thread_ = std::thread([this] { take_until_stopped(); });
}

void Acceptor::stop() {
  if (!thread_.joinable()) return;
  ::eventfd_write(told_, 1);
  thread_.join();
  ::close(told_);
}

bool Acceptor::told_to_stop(int milliseconds) const {
  pollfd told{told_, POLLIN, 0};
  return ::poll(&told, 1, milliseconds) > 0;
}

void Acceptor::take_until_stopped() {
  while (true) {
    pollfd watched[] = {{told_, POLLIN, 0}, {listening_, POLLIN, 0}};
    ::poll(watched, 2, -1);
    if (watched[0].revents != 0) return;
    if (watched[1].revents != 0) take_who_waits();
  }
}

void Acceptor::take_who_waits() {
  for (int i = 0; i < kRound; ++i) {
    Comer comer;
    comer.descriptor = ::accept4(listening_, reinterpret_cast<sockaddr*>(&comer.address), &comer.size,
                                 SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (comer.descriptor >= 0) {
      take_(comer);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      told_to_stop(kPause);  // without a descriptor, until somebody goes
      return;
    }
  }
}

}  // namespace kiln
