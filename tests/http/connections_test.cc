#include "registry/http/connections.h"

#include <fcntl.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "loopback.h"
#include "registry/http/listen.h"

namespace kiln {
namespace {

using testing::LoopbackClient;
using testing::soon;

class AcceptorTest : public ::testing::Test {
 protected:
  void take(const Acceptor::Accepted& accepted) {
    EXPECT_NE(::fcntl(accepted.descriptor, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(accepted.descriptor, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(accepted.address.ss_family, AF_INET);
    ++taken;
    ::close(accepted.descriptor);
  }
  std::unique_ptr<Acceptor> accept_from_now_on() {
    return std::make_unique<Acceptor>(socket.descriptor(),
                                      [this](const Acceptor::Accepted& accepted) { take(accepted); });
  }

  ListeningSocket socket{"127.0.0.1:0"};
  std::atomic<int> taken{0};
};

TEST_F(AcceptorTest, TakesWhoComes) {
  const auto acceptor = accept_from_now_on();
  std::vector<std::unique_ptr<LoopbackClient>> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(std::make_unique<LoopbackClient>(socket.address()));
  EXPECT_TRUE(soon([&] { return taken == 200; })) << taken;
}

TEST_F(AcceptorTest, WhoWaitsIsForTheNext) {
  accept_from_now_on()->stop();
  LoopbackClient client(socket.address());  // connected: the kernel has taken it
  EXPECT_EQ(taken, 0);
  const auto next = accept_from_now_on();
  EXPECT_TRUE(soon([&] { return taken == 1; }));
}

// A socket that a service manager shares may be a blocking one.
TEST_F(AcceptorTest, NeverHangsInTheSocket) {
  ::fcntl(socket.descriptor(), F_SETFL, ::fcntl(socket.descriptor(), F_GETFL) & ~O_NONBLOCK);
  const auto acceptor = accept_from_now_on();
  LoopbackClient client(socket.address());
  EXPECT_TRUE(soon([&] { return taken == 1; }));
  acceptor->stop();
  acceptor->stop();  // is no error
}

// Each client is taken once, by one of those who listen one after the other while many come.
TEST_F(AcceptorTest, StopsWhileManyCome) {
  std::atomic<bool> enough{false};
  std::atomic<int> came{0};
  std::thread crowd([&] {
    while (!enough) {
      LoopbackClient client(socket.address());
      client.read();  // until it is closed, or 2 s: nobody listens for so long
      came += client.closed() ? 1 : 0;
    }
  });
  for (int i = 0; i < 300; ++i) {
    const auto acceptor = accept_from_now_on();
    std::this_thread::yield();
  }
  enough = true;
  const auto last = accept_from_now_on();
  crowd.join();
  EXPECT_GT(came, 0);
  EXPECT_EQ(came, taken);
}

}  // namespace
}  // namespace kiln
