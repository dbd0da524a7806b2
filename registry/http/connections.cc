#include "registry/http/connections.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "factory/base/error.h"

namespace kiln {

std::int64_t HttpConnections::now_ms() {
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::steady_clock;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

bool HttpConnections::admit(const std::string& address) {
  const std::lock_guard held(lock_);
  std::size_t& admitted = of_address_[address];
  if (limits_.per_address != 0 && !address.empty() && admitted >= limits_.per_address) return false;
  ++admitted;
  ++admitted_;
  return true;
}

void HttpConnections::release(const std::string& address) {
  const std::lock_guard held(lock_);
  release_held(address);
}

void HttpConnections::release_held(const std::string& address) {
  const auto found = of_address_.find(address);
  if (--found->second == 0) of_address_.erase(found);
  --admitted_;
}

void HttpConnections::add(HttpConnection& connection) {
  enter(connection, HttpConnection::Phase::reading);
  const std::lock_guard held(lock_);
  connection.entry = all_.insert(all_.end(), &connection);
}

void HttpConnections::remove(HttpConnection& connection) {
  constexpr std::size_t kMostLingering = 256;
  constexpr std::int64_t kLongestLingering = 3000;  // milliseconds
  const std::lock_guard held(lock_);
  all_.erase(connection.entry);
  release_held(connection.address);
  if (!connection.lingers || lingering_.size() >= kMostLingering) return;
  // libmicrohttpd closes the other descriptor, which sends nothing while this one is open.
  FileHandle descriptor(::fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 0));
  if (descriptor < 0) return;
  ::shutdown(descriptor, SHUT_WR);
  lingering_.push_back(
      {std::move(descriptor), now_ms() + std::min(limits_.request.count(), kLongestLingering)});
}

void HttpConnections::enter(HttpConnection& connection, HttpConnection::Phase phase) {
  using Phase = HttpConnection::Phase;
  // The head of a request gets no time of its own: the body counts to the same request.
  if (phase != Phase::asked) {
    const auto time = phase == Phase::answering ? limits_.answer : limits_.request;
    connection.until_ms = now_ms() + time.count();
  }
  connection.phase = phase;
}

void HttpConnections::delay(HttpConnection& connection, std::chrono::milliseconds time) {
  connection.until_ms = now_ms() + time.count();
  connection.phase = HttpConnection::Phase::delayed;
}

void HttpConnections::tend(const std::function<void(HttpConnection&)>& resume, bool all) {
  const std::int64_t now = now_ms();
  const std::lock_guard held(lock_);
  read_lingering(now);
  for (HttpConnection* connection : all_) {
    const bool is_delayed = connection->phase == HttpConnection::Phase::delayed;
    if (connection->until_ms > now && !(all && is_delayed)) continue;
    if (is_delayed) {
      enter(*connection, HttpConnection::Phase::answering);
      resume(*connection);
    } else {
      ++late_;
      connection->until_ms = now + limits_.answer.count();  // once, while it is being closed
      ::shutdown(connection->descriptor, SHUT_RDWR);
    }
  }
}

void HttpConnections::read_lingering(std::int64_t now) {
  std::erase_if(lingering_, [&](const Lingering& one) {
    constexpr int kReads = 64;  // of one in a round: no client keeps the lock
    char bytes[16384];
    ssize_t size = 1;
    for (int i = 0; i < kReads && size > 0; ++i)
      size = ::recv(one.descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    const bool open = size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
    return !open || now >= one.until_ms;
  });
}

std::size_t HttpConnections::asked() {
  const std::lock_guard held(lock_);
  std::size_t count = 0;
  for (const HttpConnection* connection : all_) count += connection->phase != HttpConnection::Phase::reading;
  return count;
}

namespace {

constexpr int kPause = 10;  // milliseconds, while there is no descriptor
constexpr int kRound = 64;  // are taken before we ask whether to stop

}  // namespace

Acceptor::Acceptor(int listening, std::function<void(const Accepted&)> accept)
    : listening_(listening), accept_(std::move(accept)) {
  told_ = FileHandle(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (told_ < 0)
    throw Error(ExitCode::network,
                fmt::format("cannot create an eventfd for the server: {}", std::strerror(errno)));
  // Another process may share it, and be quicker (systemd's sockets).
  ::fcntl(listening_, F_SETFL, ::fcntl(listening_, F_GETFL) | O_NONBLOCK);
  thread_ = std::thread([this] { accept_until_stopped(); });
}

void Acceptor::stop() {
  if (!thread_.joinable()) return;
  ::eventfd_write(told_, 1);
  thread_.join();
  told_.close();
}

bool Acceptor::told_to_stop(int milliseconds) const {
  pollfd told{told_, POLLIN, 0};
  return ::poll(&told, 1, milliseconds) > 0;
}

void Acceptor::accept_until_stopped() {
  while (true) {
    pollfd watched[] = {{told_, POLLIN, 0}, {listening_, POLLIN, 0}};
    ::poll(watched, 2, -1);
    if (watched[0].revents != 0) return;
    if (watched[1].revents != 0) accept_waiting();
  }
}

void Acceptor::accept_waiting() {
  for (int i = 0; i < kRound; ++i) {
    Accepted accepted;
    accepted.descriptor = ::accept4(listening_, reinterpret_cast<sockaddr*>(&accepted.address),
                                    &accepted.size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted.descriptor >= 0) {
      accept_(accepted);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      told_to_stop(kPause);  // without a descriptor, until somebody goes
      return;
    }
  }
}

}  // namespace kiln
