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
#include <string_view>
#include <thread>

namespace kiln::testing {

// Waits for what another thread does; the bound is for what never comes, and no test passes by it.
template <typename Condition>
bool soon(const Condition& holds) {
  for (int i = 0; i < 6000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

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
  // Until the connection is closed, or nothing more has come for so long: a bound for a server that hangs.
  std::string read(std::chrono::milliseconds patience = std::chrono::seconds(60)) {
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
  // One answer of a connection that stays open: a head with Content-Length, and so many bytes.
  std::string read_answer() {
    std::string all;
    char byte = 0;
    pollfd ready{descriptor_, POLLIN, 0};
    while (!is_whole(all) && ::poll(&ready, 1, 60'000) > 0 && ::recv(descriptor_, &byte, 1, 0) == 1)
      all += byte;
    return all;
  }
  bool has_answer() const {
    pollfd ready{descriptor_, POLLIN, 0};
    return ::poll(&ready, 1, 0) > 0;
  }
  bool closed() const { return closed_; }  // seen by read()

 private:
  static bool is_whole(const std::string& answer) {
    static constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t head = answer.find("\r\n\r\n");
    const std::size_t length = answer.find(kLength);
    return head != std::string::npos && length < head &&
           answer.size() >= head + 4 + std::stoul(answer.substr(length + kLength.size()));
  }
  int descriptor_ = -1;
  bool closed_ = false;
};

}  // namespace kiln::testing
