// What is asked over HTTP and what is answered, as values: whoever answers knows neither sockets nor threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/http/target.h"

namespace kiln {

// Names in lower case, values without white space around them, in the order of the request.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct ReceivedRequest {
  std::string method;      // GET, as written: methods know case
  std::string raw_target;  // "/v1/images?limit=3", as written
  HttpTarget target;
  HttpHeaders headers{};
  std::string body{};
  std::string address{};  // who asks: 192.0.2.7; "" over a Unix socket

  // "" when there is none.
  std::string_view header(std::string_view lower_case_name) const;
};

struct HttpResponse {
  int status = 200;
  std::string body{};                     // of 304, and to HEAD, only its length is sent
  std::string type = "application/json";  // of the body; "" = there is none
  std::vector<std::pair<std::string, std::string>> headers{};
  std::chrono::milliseconds delay{0};  // waited before it is sent, without keeping a thread
  bool close = false;                  // the connection ends with it
};

// Answers one request; called by several threads at once. Must not throw.
using HttpHandler = std::function<HttpResponse(const ReceivedRequest& request)>;

// An error as all of kiln's answers have it: {"error":{"code":"bad_request","message":…,"hint":…}}.
HttpResponse http_error(int status, const std::string& message, const std::string& hint = "");
// "bad_request" of 400: the word that programs compare.
std::string http_error_code(int status);

}  // namespace kiln
