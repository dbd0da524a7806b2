// HTTP/1.1 over libmicrohttpd. Only server.cc includes its header.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "registry/http/message.h"

namespace kiln {

struct HttpLimits {
  std::size_t body = 1u << 20;     // bytes; 413
  std::size_t bodies = 64u << 20;  // of all that come in at once; 503
  std::size_t head = 16u << 10;    // bytes of a connection's buffer, which holds the head; 414 and 431
  std::size_t connections = 8192;  // more get 503
  std::size_t per_address = 256;   // connections of one; more get 503; 0: no limit
  std::chrono::milliseconds request{20'000};  // for a whole request, the silence before it included
  std::chrono::milliseconds answer{60'000};   // to make and to take an answer
  unsigned threads = 4;
};

struct HttpCounts {
  std::size_t connections = 0;  // open now
  std::uint64_t late = 0;       // connections cut at their deadline
  std::uint64_t refused = 0;    // connections beyond a limit
  std::uint64_t malformed = 0;  // requests refused for their head
};

class HttpServer {
 public:
  // Serves from now on, on a listening socket that it leaves open. `handler` outlives it. Throws
  // Error(network).
  HttpServer(int listening, const HttpLimits& limits, HttpHandler handler);
  ~HttpServer();  // closes all connections
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Accepts no new connection, answers the requests that have arrived, and returns after `patience` at the
  // latest.
  void drain(std::chrono::milliseconds patience);
  HttpCounts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln
