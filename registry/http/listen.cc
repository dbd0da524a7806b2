#include "registry/http/listen.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {

namespace {

constexpr int kBacklog = 4096;
constexpr std::string_view kUnix = "unix:";
constexpr int kFirstOfSystemd = 3;  // SD_LISTEN_FDS_START

[[noreturn]] void cannot_listen(const std::string& address, int reason) {
  throw Error(ExitCode::network, fmt::format("cannot listen on {}: {}", address, std::strerror(reason)),
              reason == EADDRINUSE ? "another program does already; --listen names another address" : "");
}

[[noreturn]] void no_address(const std::string& address) {
  throw Error(ExitCode::usage, fmt::format("invalid listen address '{}'", address),
              "127.0.0.1:8642, [::1]:8642, unix:/run/kiln/serve.sock, or systemd");
}

struct AddressesDeleter {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, AddressesDeleter>;

Addresses numeric(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  // getaddrinfo takes any number for a port, and of it the last 16 bits.
  if (colon == address.npos || colon == 0 || !as_number<std::uint16_t>(address.substr(colon + 1)))
    no_address(address);
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &wanted, &found) != 0)
    no_address(address);
  return Addresses(found);
}

sockaddr_un path_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) no_address(std::string(kUnix) + path);
  path.copy(address.sun_path, path.size());
  return address;
}

// A file of a listener that died without taking it away.
bool is_left_behind(const sockaddr_un& address) {
  struct stat found {};
  if (::lstat(address.sun_path, &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
  const FileHandle probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

ListeningSocket::ListeningSocket(const std::string& address) {
  if (address.starts_with(kUnix))
    listen_on_path(address.substr(kUnix.size()));
  else
    listen_on_port(address);
}

void ListeningSocket::listen_on_path(const std::string& path) {
  const sockaddr_un address = path_address(path);
  if (is_left_behind(address)) ::unlink(path.c_str());
  descriptor_ = FileHandle(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);
  if (descriptor_ < 0 || ::bind(descriptor_, plain, sizeof address) != 0 ||
      ::listen(descriptor_, kBacklog) != 0)
    cannot_listen(std::string(kUnix) + path, errno);
  path_ = path;
}

void ListeningSocket::listen_on_port(const std::string& address) {
  const Addresses found = numeric(address);
  descriptor_ = FileHandle(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (descriptor_ < 0 || ::bind(descriptor_, found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(descriptor_, kBacklog) != 0)
    cannot_listen(address, errno);
}

ListeningSocket::~ListeningSocket() {
  descriptor_.close();
  if (!path_.empty()) ::unlink(path_.c_str());
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), path_(std::exchange(other.path_, {})) {}

ListeningSocket ListeningSocket::of_systemd(const std::map<std::string, std::string>& environment) {
  auto value = [&](const char* name) { return value_or(environment, name); };
  if (value("LISTEN_PID") != std::to_string(::getpid()) || value("LISTEN_FDS") != "1")
    throw Error(ExitCode::usage, "systemd handed over no socket, or several",
                "--listen systemd is for a service with a .socket unit of one address");
  return ListeningSocket(Handed{kFirstOfSystemd});
}

std::string ListeningSocket::address() const {
  if (!path_.empty()) return std::string(kUnix) + path_;
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return "";
  if (bound.ss_family == AF_UNIX)
    return std::string(kUnix) + reinterpret_cast<const sockaddr_un&>(bound).sun_path;
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "";
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&bound), size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  if (bound.ss_family == AF_INET6) return fmt::format("[{}]:{}", host, port);
  return fmt::format("{}:{}", host, port);
}

bool tell_service_manager(const std::string& address, const std::string& state) {
  sockaddr_un to{};
  if (address.size() < 2 || address.size() >= sizeof to.sun_path) return false;
  to.sun_family = AF_UNIX;
  address.copy(to.sun_path, address.size());
  if (address.front() == '@') to.sun_path[0] = '\0';
  const FileHandle descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (descriptor < 0) return false;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  const ssize_t sent = ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&to), size);
  return sent == static_cast<ssize_t>(state.size());
}

std::string monotonic_line() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return fmt::format("MONOTONIC_USEC={}", now.tv_sec * 1'000'000 + now.tv_nsec / 1000);
}

}  // namespace kiln
