// Who is connected, since when, and what is waited for: what libmicrohttpd does not bound. Its timeout is for
// silence, so a client that sends a byte a second would stay for ever.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

namespace kiln {

// One connection, from accept to close. What is atomic is written by the thread that serves it.
struct HttpConnection {
  enum class Phase : std::uint8_t {
    reading,    // waits for a request, or for the rest of one
    asked,      // a request's head is here: it is answered before we stop
    answering,  // the answer is on its way
    delayed     // the answer waits for its time
  };
  int descriptor = -1;
  std::string address{};   // 192.0.2.7; "" over a Unix socket
  void* handle = nullptr;  // libmicrohttpd's
  std::atomic<Phase> phase{Phase::reading};
  std::atomic<std::int64_t> until_ms{0};  // of the phase: then it is cut, or the answer's time has come
  std::list<HttpConnection*>::iterator place{};
};

class HttpConnections {
 public:
  struct Limits {
    std::chrono::milliseconds request{20'000};  // from the end of an answer to that of the next request
    std::chrono::milliseconds answer{60'000};   // to take an answer
    std::size_t per_address = 256;              // 0: no limit
  };
  explicit HttpConnections(Limits limits) : limits_(limits) {}

  bool may_come(const std::string& address);  // true: it has a place; false: it has as many as it may
  void went(const std::string& address);      // who had a place is not here any more, or never was
  void add(HttpConnection& connection);       // one that has a place
  void remove(HttpConnection& connection);    // before its descriptor is closed; its place goes with it
  // Its next phase, with the time that this has.
  void enter(HttpConnection& connection, HttpConnection::Phase phase);
  void delay(HttpConnection& connection, std::chrono::milliseconds time);

  // Cuts those that are late: the socket is shut down, and its thread closes it. Those whose time has come
  // (or, with `all`, wait for it) go to `resume`, with the lock in hand.
  void tend(const std::function<void(HttpConnection&)>& resume, bool all = false);
  std::size_t asked();  // with a request that is not answered yet
  std::size_t size() const { return places_; }
  std::uint64_t late() const { return late_; }  // cut

 private:
  static std::int64_t now_ms();
  void forget_place(const std::string& address);  // with the lock in hand
  const Limits limits_;
  std::mutex lock_;
  std::list<HttpConnection*> all_;
  std::unordered_map<std::string, std::size_t> of_address_;  // places
  std::atomic<std::size_t> places_{0};
  std::atomic<std::uint64_t> late_{0};
};

}  // namespace kiln
