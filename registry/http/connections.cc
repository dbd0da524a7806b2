#include "registry/http/connections.h"

#include <sys/socket.h>

namespace kiln {

std::int64_t HttpConnections::now_ms() {
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::steady_clock;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

bool HttpConnections::may_come(const std::string& address) {
  const std::lock_guard held(lock_);
  std::size_t& places = of_address_[address];
  if (limits_.per_address != 0 && !address.empty() && places >= limits_.per_address) return false;
  ++places;
  ++places_;
  return true;
}

void HttpConnections::went(const std::string& address) {
  const std::lock_guard held(lock_);
  forget_place(address);
}

void HttpConnections::forget_place(const std::string& address) {
  const auto found = of_address_.find(address);
  if (--found->second == 0) of_address_.erase(found);
  --places_;
}

void HttpConnections::add(HttpConnection& connection) {
  enter(connection, HttpConnection::Phase::reading);
  const std::lock_guard held(lock_);
  connection.place = all_.insert(all_.end(), &connection);
}

void HttpConnections::remove(HttpConnection& connection) {
  const std::lock_guard held(lock_);
  all_.erase(connection.place);
  forget_place(connection.address);
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

std::size_t HttpConnections::asked() {
  const std::lock_guard held(lock_);
  std::size_t count = 0;
  for (const HttpConnection* connection : all_) count += connection->phase != HttpConnection::Phase::reading;
  return count;
}

}  // namespace kiln
