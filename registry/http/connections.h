// Deadlines and limits of connections, which libmicrohttpd does not have. Its timeout counts silence, so a
// client that sends a byte each second could stay for ever.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "factory/base/file_handle.h"

namespace kiln {

// One connection, from accept to close. The thread that serves it writes the atomic members.
struct HttpConnection {
  enum class Phase : std::uint8_t {
    reading,    // waits for a request, or for the rest of one
    asked,      // a request's head has arrived: the server answers it before it stops
    answering,  // the answer is on its way
    delayed     // the answer waits for its time
  };
  int descriptor = -1;
  std::string address{};   // 192.0.2.7; "" over a Unix socket
  void* handle = nullptr;  // libmicrohttpd's
  std::atomic<Phase> phase{Phase::reading};
  bool lingers = false;                   // it was refused before all that it sends was read
  std::atomic<std::int64_t> until_ms{0};  // of the phase: then it is cut, or the answer's time has come
  std::list<HttpConnection*>::iterator entry{};
};

class HttpConnections {
 public:
  struct Limits {
    std::chrono::milliseconds request{20'000};  // from the end of an answer to that of the next request
    std::chrono::milliseconds answer{60'000};   // to take an answer
    std::size_t per_address = 256;              // 0: no limit
  };
  explicit HttpConnections(Limits limits) : limits_(limits) {}

  bool admit(const std::string& address);    // counts a connection; false: the address has its share already
  void release(const std::string& address);  // of an admitted connection that was not added
  void add(HttpConnection& connection);      // REQUIRES: it is admitted
  void remove(HttpConnection& connection);   // and releases it; before its descriptor is closed
  // Begins a phase and its deadline.
  void enter(HttpConnection& connection, HttpConnection::Phase phase);
  void delay(HttpConnection& connection, std::chrono::milliseconds time);

  // Shuts down the sockets of late connections; their threads close them. Calls `resume` with each delayed
  // connection whose time has come, or with `all` each delayed one, and holds the lock meanwhile. Reads what
  // lingering clients send.
  void tend(const std::function<void(HttpConnection&)>& resume, bool all = false);
  std::size_t asked();  // with a request that is not answered yet
  std::size_t size() const { return admitted_; }
  std::uint64_t late() const { return late_; }  // cut

 private:
  static std::int64_t now_ms();
  // A closed connection whose client still sends: if the kernel closed it with bytes unread, it would send a
  // reset, which can overtake the answer.
  struct Lingering {
    FileHandle descriptor;
    std::int64_t until_ms;
  };
  void release_held(const std::string& address);  // with the lock in hand
  void read_lingering(std::int64_t now);          // with the lock in hand
  const Limits limits_;
  std::mutex lock_;
  std::list<HttpConnection*> all_;
  std::vector<Lingering> lingering_;
  std::unordered_map<std::string, std::size_t> of_address_;  // admitted
  std::atomic<std::size_t> admitted_{0};
  std::atomic<std::uint64_t> late_{0};
};

// Accepts connections of a listening socket. libmicrohttpd can accept them but cannot stop: in 0.9.75 (Debian
// 12) and in 1.0.1, MHD_quiesce_daemon and the epoll threads both remove the socket from the threads' sets,
// and the second removal ends the process ("Failed to remove listen FD from epoll set", daemon.c).
class Acceptor {
 public:
  // An accepted connection. The callback owns the descriptor, which does not block.
  struct Accepted {
    int descriptor = -1;
    sockaddr_storage address{};
    socklen_t size = sizeof(sockaddr_storage);  // bytes of the address
  };
  // Starts a thread that accepts. The caller keeps the socket, which becomes non-blocking. Throws
  // Error(network) if no descriptor is left.
  Acceptor(int listening, std::function<void(const Accepted&)> accept);
  ~Acceptor() { stop(); }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Accepts no connection after it returns. Waiting clients stay in the queue of the socket. May be called
  // twice.
  void stop();

 private:
  void accept_until_stopped();
  void accept_waiting();
  bool told_to_stop(int milliseconds) const;  // within the time

  const int listening_;
  const std::function<void(const Accepted&)> accept_;
  FileHandle told_;  // an eventfd
  std::thread thread_;
};

}  // namespace kiln
