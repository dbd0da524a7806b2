#include "registry/http/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <ctime>

namespace kiln {

bool tell_service_manager(const std::string& address, const std::string& state) {
  sockaddr_un to{};
  if (address.size() < 2 || address.size() >= sizeof to.sun_path) return false;
  to.sun_family = AF_UNIX;
  address.copy(to.sun_path, address.size());
  if (address.front() == '@') to.sun_path[0] = '\0';
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  const ssize_t sent = ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&to), size);
  ::close(descriptor);
  return sent == static_cast<ssize_t>(state.size());
}

std::string monotonic_line() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return fmt::format("MONOTONIC_USEC={}", now.tv_sec * 1'000'000 + now.tv_nsec / 1000);
}

}  // namespace kiln
