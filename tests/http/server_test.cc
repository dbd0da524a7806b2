#include "registry/http/server.h"

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "loopback.h"
#include "registry/http/listen.h"

namespace kiln {
namespace {

using std::chrono::milliseconds;
using testing::LoopbackClient;
using testing::soon;

const std::string kGet = "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

std::string post(const std::string& body) {
  return "POST /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string first_line(const std::string& answer) { return answer.substr(0, answer.find('\r')); }

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServer& start(HttpHandler handler, HttpLimits limits = {}) {
    server.emplace(socket.descriptor(), limits, std::move(handler));
    return *server;
  }
  std::string asked(const std::string& raw) {
    LoopbackClient client(socket.address());
    client.send(raw);
    return client.read();
  }

  ListeningSocket socket{"127.0.0.1:0"};
  std::optional<HttpServer> server;
};

TEST_F(HttpServerTest, HandsOverWhatWasAsked) {
  ReceivedRequest seen;
  start([&](const ReceivedRequest& request) {
    seen = request;
    return HttpResponse{201, "made\n", "text/plain", {{"Location", "/y"}}};
  });
  const std::string answer = asked(
      "POST /a%20b?c=d%26 HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nContent-Length: 4\r\nConnection: "
      "close\r\n\r\nbody");
  EXPECT_EQ(first_line(answer), "HTTP/1.1 201 Created");
  EXPECT_NE(answer.find("\r\nLocation: /y\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\r\nContent-Type: text/plain\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\r\nContent-Length: 5\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\nmade\n"));
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.raw_target, "/a%20b?c=d%26");
  EXPECT_EQ(seen.target.segments, std::vector<std::string>{"a b"});
  EXPECT_EQ(seen.target.query.at(0).second, "d&");
  EXPECT_EQ(seen.header("x-one"), "1");
  EXPECT_EQ(seen.body, "body");
  EXPECT_EQ(seen.address, "127.0.0.1");
}

TEST_F(HttpServerTest, AnswersWithoutABodyHaveNone) {
  start([](const ReceivedRequest& request) {
    return request.method == "HEAD" ? HttpResponse{200, "1234567"} : HttpResponse{304, "1234"};
  });
  const std::string head = asked("HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 7\r\n"), std::string::npos) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  const std::string unchanged = asked(kGet);
  EXPECT_EQ(first_line(unchanged), "HTTP/1.1 304 Not Modified");
  EXPECT_NE(unchanged.find("Content-Length: 4\r\n"), std::string::npos)
      << unchanged;  // of what 200 would have
  EXPECT_TRUE(unchanged.ends_with("\r\n\r\n")) << unchanged;
}

TEST_F(HttpServerTest, AConnectionIsKept) {
  std::atomic<int> times{0};
  start([&](const ReceivedRequest&) { return HttpResponse{200, std::to_string(++times)}; });
  LoopbackClient client(socket.address());
  for (const char* expected : {"1", "2", "3"}) {
    client.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(client.read_answer().ends_with(std::string("\r\n\r\n") + expected));
  }
  EXPECT_EQ(server->counts().connections, 1u);
}

TEST_F(HttpServerTest, LargeBodiesAreRefusedBeforeTheyAreSent) {
  HttpLimits limits;
  limits.body = 10;
  start([](const ReceivedRequest& request) { return HttpResponse{200, request.body}; }, limits);
  EXPECT_TRUE(asked(post("0123456789")).ends_with("0123456789"));
  const std::string refused = asked("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n");
  EXPECT_EQ(first_line(refused), "HTTP/1.1 413 Content Too Large");
  EXPECT_NE(refused.find("Connection: close"), std::string::npos);
  EXPECT_NE(refused.find("more than 10 bytes"), std::string::npos);
}

// A kernel that closes a connection with bytes unread sends a reset, and the client loses the answer.
TEST_F(HttpServerTest, ClientsThatSendALargeBodyGetTheirAnswer) {
  HttpLimits limits;
  limits.body = 10;
  start([](const ReceivedRequest&) { return HttpResponse{}; }, limits);
  for (int i = 0; i < 3; ++i) {
    LoopbackClient client(socket.address());
    client.send(post(std::string(6u << 20, 'x')));
    const std::string refused = client.read();
    EXPECT_EQ(first_line(refused), "HTTP/1.1 413 Content Too Large");
    EXPECT_TRUE(refused.ends_with("}\n")) << refused;
    EXPECT_TRUE(client.closed());
  }
}

TEST_F(HttpServerTest, ManyBodiesAtOnceHaveABound) {
  HttpLimits limits;
  limits.bodies = 1000;
  start([](const ReceivedRequest& request) { return HttpResponse{200, request.body}; }, limits);
  // Bytes count until the answer is sent. So the first client is refused if its bytes meet those of a second
  // one that was faster, and then it begins again.
  ASSERT_TRUE(soon([&] {
    LoopbackClient first(socket.address());
    first.send(post(std::string(900, 'a')).substr(0, 600));  // it is not all there
    std::string busy;
    EXPECT_TRUE(soon([&] {
      busy = asked(post(std::string(500, 'b')));
      return !busy.starts_with("HTTP/1.1 200 OK");
    }));
    EXPECT_EQ(first_line(busy), "HTTP/1.1 503 Service Unavailable");
    EXPECT_NE(busy.find("Retry-After: 1\r\n"), std::string::npos);
    first.send(std::string(500, 'a'));
    return first.read().starts_with("HTTP/1.1 200 OK");
  }));
  EXPECT_TRUE(soon([&] { return asked(post(std::string(900, 'c'))).starts_with("HTTP/1.1 200 OK"); }))
      << "there is room again";
}

TEST_F(HttpServerTest, WhoIsSlowIsCutAndOthersAreNot) {
  HttpLimits limits;
  limits.request = milliseconds(400);
  start([](const ReceivedRequest&) { return HttpResponse{200, "fine"}; }, limits);
  const auto begin = std::chrono::steady_clock::now();
  LoopbackClient slow(socket.address());
  std::atomic<bool> cut{false};
  std::thread drips([&] {  // never a whole head, and never silent
    slow.send("GET /x HTTP/1.1\r\nHost: ");
    while (!cut) {
      slow.send("h");
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  // On a busy machine this request may be late as well.
  EXPECT_TRUE(soon([&] { return asked(kGet).ends_with("fine"); }));
  EXPECT_EQ(slow.read(), "");
  EXPECT_TRUE(slow.closed());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(399));  // the server counts whole ones
  cut = true;
  drips.join();
  EXPECT_GE(server->counts().late, 1u);
}

TEST_F(HttpServerTest, AnAddressHasItsShare) {
  HttpLimits limits;
  limits.per_address = 2;
  start([](const ReceivedRequest&) { return HttpResponse{200, "fine"}; }, limits);
  LoopbackClient first(socket.address());
  LoopbackClient second(socket.address());
  ASSERT_TRUE(soon([&] { return server->counts().connections == 2; }));
  LoopbackClient third(socket.address());
  const std::string full = third.read();
  EXPECT_EQ(first_line(full), "HTTP/1.1 503 Service Unavailable");
  EXPECT_NE(full.find("Retry-After: 1\r\n"), std::string::npos);
  EXPECT_NE(full.find("too many connections"), std::string::npos);
  EXPECT_TRUE(third.closed());
  EXPECT_EQ(server->counts().refused, 1u);
  first.send(kGet);
  EXPECT_TRUE(first.read().ends_with("fine"));
  EXPECT_TRUE(asked(kGet).ends_with("fine"));  // the first one's place
}

TEST_F(HttpServerTest, BeyondAllPlacesIsLater) {
  HttpLimits limits;
  limits.connections = 2;
  start([](const ReceivedRequest&) { return HttpResponse{200, "fine"}; }, limits);
  LoopbackClient first(socket.address());
  LoopbackClient second(socket.address());
  LoopbackClient third(socket.address());
  third.send(kGet);
  EXPECT_EQ(first_line(third.read()), "HTTP/1.1 503 Service Unavailable");
  EXPECT_TRUE(third.closed());
  EXPECT_EQ(server->counts().connections, 2u);
  first.send(kGet);
  EXPECT_TRUE(first.read().ends_with("fine"));
  EXPECT_TRUE(asked(kGet).ends_with("fine"));  // the first one's place
}

TEST_F(HttpServerTest, EndsWhileManyCome) {
  std::atomic<bool> enough{false};
  std::thread crowd([&] {
    while (!enough) {
      LoopbackClient client(socket.address());
      client.send(kGet);
      client.read(milliseconds(50));
    }
  });
  for (int i = 0; i < 200; ++i) {
    start([](const ReceivedRequest&) { return HttpResponse{200, "fine"}; });
    std::this_thread::sleep_for(milliseconds(i % 3));
    server.reset();
  }
  enough = true;
  crowd.join();
  start([](const ReceivedRequest&) { return HttpResponse{200, "fine"}; });
  EXPECT_TRUE(asked(kGet).ends_with("fine"));
}

TEST_F(HttpServerTest, ADelayKeepsNoThread) {
  HttpLimits limits;
  limits.threads = 2;
  std::atomic<int> taken{0};
  start(
      [&](const ReceivedRequest& request) {
        HttpResponse response{200, "late"};
        if (request.method == "POST") response.delay = std::chrono::minutes(10);
        ++taken;
        return response;
      },
      limits);
  std::vector<std::unique_ptr<LoopbackClient>> many;
  for (int i = 0; i < 20; ++i) {
    many.push_back(std::make_unique<LoopbackClient>(socket.address()));
    many.back()->send(post("x"));
  }
  EXPECT_TRUE(soon([&] { return taken == 20; })) << "two threads took " << taken << " of 20 that wait";
  EXPECT_TRUE(asked(kGet).ends_with("late"));
  for (const auto& client : many) EXPECT_FALSE(client->has_answer());
  server->drain(std::chrono::minutes(1));
  for (const auto& client : many) EXPECT_TRUE(client->read().ends_with("late"));
}

TEST_F(HttpServerTest, WhatWasAskedIsAnsweredBeforeTheEnd) {
  std::atomic<bool> at_work{false}, may_end{false};
  start([&](const ReceivedRequest&) {
    at_work = true;
    soon([&] { return may_end.load(); });
    return HttpResponse{200, "done"};
  });
  LoopbackClient client(socket.address());
  LoopbackClient idle(socket.address());
  client.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(soon([&] { return at_work && server->counts().connections == 2; }));
  may_end = true;
  server->drain(std::chrono::minutes(1));
  server.reset();
  const std::string answer = client.read();
  EXPECT_TRUE(answer.ends_with("done")) << answer;
  EXPECT_EQ(idle.read(), "");
}

TEST_F(HttpServerTest, EndsWithDelayedAnswersInHand) {
  std::atomic<bool> taken{false};
  start([&](const ReceivedRequest&) {
    HttpResponse response{200, "late"};
    response.delay = std::chrono::minutes(10);
    taken = true;
    return response;
  });
  LoopbackClient client(socket.address());
  client.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(soon([&] { return taken.load(); }));
  server->drain(std::chrono::minutes(1));
  const std::string answer = client.read_answer();
  EXPECT_TRUE(answer.ends_with("late"));
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
}

TEST_F(HttpServerTest, CountsHeadsThatAreNone) {
  start([](const ReceivedRequest&) { return HttpResponse{}; });
  EXPECT_EQ(first_line(asked("GET /x HTTP/1.1\nHost: h\n\n")), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(first_line(asked("GET /../x HTTP/1.1\r\nHost: h\r\n\r\n")), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(server->counts().malformed, 2u);
}

}  // namespace
}  // namespace kiln
