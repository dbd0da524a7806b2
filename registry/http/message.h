// Requests and responses of HTTP as values, without sockets and threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln {

// The target of a request (RFC 9112, section 3.2): the origin form, "/v1/images?limit=3", or the absolute one
// with a host before it. It is not trusted, and never the name of a file.
struct HttpTarget {
  std::vector<std::string> segments{};                       // of the path, decoded; "/" has none
  std::vector<std::pair<std::string, std::string>> query{};  // decoded, in order; a name stands once
};

// Throws Error(input): for another form (a tunnel's), an empty segment, `.` and `..` however they
// are written, a percent sign without two hex digits, what is not UTF-8, a control character, a name of the
// query that stands twice, more than 64 of either.
HttpTarget parse_target(std::string_view target);

// Without percent-encoding; nullopt if it is invalid, or decodes to other bytes than text. A plus sign is a
// blank where `plus_is_blank`, as forms write it.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank);

// Names in lower case, values without white space around them, in the order of the request.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct ReceivedRequest {
  std::string method;      // GET, as written: methods know case
  std::string raw_target;  // "/v1/images?limit=3", as written
  HttpTarget target;
  HttpHeaders headers{};
  std::string body{};
  std::string address{};  // of the client: 192.0.2.7; "" over a Unix socket

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

// A second, strict reader of a request's head. If a proxy and kiln read a head differently, a client can
// smuggle a request past the proxy.

// The result of reading a head.
struct HeaderBlock {
  int status = 0;         // 0: it is as it must be; else the status of the refusal
  const char* why = "";   // for the refusal
  HttpHeaders headers{};  // as ReceivedRequest has them
  std::uint64_t content_length = 0;
};

// `block`: method, target, version and headers as libmicrohttpd leaves them: the first blank, the last before
// the version, each CR, each LF that ends a line and the colons are NULs. This shows a line that does not
// end with CR LF, a folded line (obs-fold), a NUL of the client, and text that is no header. `target_bytes`:
// length of the target, which libmicrohttpd writes over.
HeaderBlock read_header_block(std::string_view block, std::size_t target_bytes);

}  // namespace kiln
