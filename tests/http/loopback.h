// A client of a few lines, for what is sent byte by byte.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <string>

namespace kiln::testing {

class LoopbackClient {
 public:
  // "127.0.0.1:8642", as ListeningSocket::address() says it.
  explicit LoopbackClient(const std::string& address) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~LoopbackClient() { ::close(descriptor_); }
  LoopbackClient(const LoopbackClient&) = delete;
  LoopbackClient& operator=(const LoopbackClient&) = delete;

  void send(const std::string& bytes) const { ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  // Until it is closed, or nothing more has come for so long.
  std::string read(std::chrono::milliseconds patience = std::chrono::milliseconds(2000)) {
    std::string all;
    pollfd ready{descriptor_, POLLIN, 0};
    while (::poll(&ready, 1, static_cast<int>(patience.count())) > 0) {
      char bytes[4096];
      const ssize_t size = ::recv(descriptor_, bytes, sizeof bytes, 0);
      closed_ = size <= 0;
      if (closed_) break;
      all.append(bytes, static_cast<std::size_t>(size));
    }
    return all;
  }
  bool closed() const { return closed_; }  // seen by read()

 private:
  int descriptor_ = -1;
  bool closed_ = false;
};

}  // namespace kiln::testing
