// Listening sockets: of an address, of a path, or from systemd.
#pragma once

#include <map>
#include <string>

#include "factory/base/file_handle.h"

namespace kiln {

// A listening socket, closed with this.
class ListeningSocket {
 public:
  // "127.0.0.1:8642", "[::1]:8642", "unix:/run/kiln/serve.sock"; port 0: one that is free. No name is looked
  // up. A socket file that no process listens on is replaced. Throws Error(usage) for an invalid address, and
  // Error(network) if kiln cannot listen on it.
  explicit ListeningSocket(const std::string& address);
  ~ListeningSocket();
  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;

  // The one that systemd hands over (sd_listen_fds(3)), which keeps listening while the server restarts.
  // Throws Error(usage) when there is none, or several.
  static ListeningSocket of_systemd(const std::map<std::string, std::string>& environment);

  int descriptor() const { return descriptor_; }
  std::string address() const;  // as the constructor takes it, with the port that it is

 private:
  struct Handed {
    int descriptor;
  };
  explicit ListeningSocket(Handed handed) : descriptor_(handed.descriptor) {}
  void listen_on_path(const std::string& path);
  void listen_on_port(const std::string& address);
  FileHandle descriptor_;
  std::string path_{};  // of the socket file, which goes with this
};

// Messages to a service manager (sd_notify(3)), as datagrams and without its library.

// `address`: $NOTIFY_SOCKET, a path or @name; "" = no service manager. `state`: "READY=1", lines. False if
// the message could not be sent.
bool tell_service_manager(const std::string& address, const std::string& state);

// "MONOTONIC_USEC=…": goes with RELOADING=1.
std::string monotonic_line();

}  // namespace kiln
