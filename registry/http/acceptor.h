// Takes connections from a listening socket. libmicrohttpd would do so itself, but cannot stop to: in 0.9.75
// (Debian 12), and still in 1.0.1, MHD_quiesce_daemon and its epoll threads both take the socket from the
// threads' sets, and whoever comes second ends the process ("Failed to remove listen FD from epoll set",
// daemon.c).
#pragma once

#include <sys/socket.h>

#include <functional>
#include <thread>

namespace kiln {

class Acceptor {
 public:
  // Who has come; the descriptor is its taker's, and does not block.
  struct Comer {
    int descriptor = -1;
    sockaddr_storage address{};
    socklen_t size = sizeof(sockaddr_storage);  // bytes of the address
  };
  // Takes from now on, in a thread of its own; the socket stays its owner's, and is made not to block.
  // Throws Error(network) without a descriptor.
  Acceptor(int listening, std::function<void(const Comer&)> take);
  ~Acceptor() { stop(); }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Nobody is taken once it returns: who waits still does so, for the next who listens. May be called twice.
  void stop();

 private:
  void take_until_stopped();
  void take_who_waits();
  bool told_to_stop(int milliseconds) const;  // within the time

  const int listening_;
  const std::function<void(const Comer&)> take_;
  int told_ = -1;  // an eventfd
  std::thread thread_;
};

}  // namespace kiln
