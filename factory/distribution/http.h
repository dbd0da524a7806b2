// HTTP requests to registries and to Docker's daemon. libcurl does the work; it is opened when the first
// request is made, as most commands do without it, and loading it takes longer than they do.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/error.h"

namespace kiln {

struct HttpRequest {
  std::string method;  // GET, HEAD, POST, PUT, DELETE
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};             // of POST and PUT
  std::filesystem::path file{};   // in place of `body`: its bytes
  std::uint64_t most = 8u << 20;  // bytes of the answer that are taken
  // Gets the body of a 200, a piece at a time, in place of HttpAnswer::body and without its limit; false ends
  // the transfer. An exception ends the transfer as well, and is passed on.
  std::function<bool(std::string_view piece)> take{};
  // Its address was named by another machine: refused where it is this machine or of its link.
  bool is_foreign = false;
};

struct HttpAnswer {
  int status = 0;
  std::multimap<std::string, std::string> headers{};  // names in lower case
  std::string body{};
  bool is_local = false;  // the first host asked is this machine, or on its link

  std::string header(const std::string& name) const;  // the first; "" without one
};

// There was no answer: no connection, one that broke, silence, a certificate that no authority vouches for.
class HttpFailure : public Error {
 public:
  explicit HttpFailure(std::string what, bool passes = true)
      : Error(ExitCode::network, std::move(what)), may_pass(passes) {}

  bool may_pass;  // false: the next try would end as this one did
};

struct HttpSettings {
  std::map<std::string, std::string> environment{};  // proxies and SSL_CERT_FILE
  std::chrono::seconds stall{180};                   // that a transfer may be silent (silence.h); 0: no limit
  std::chrono::seconds wall{0};                      // for a whole answer; 0: no limit
  std::chrono::seconds connect{30};                  // until there is a connection
  std::filesystem::path socket{};                    // unix(7): where the server listens, whatever the URL
  bool despite_interrupt = false;                    // as Command::despite_interrupt
  // Asked once a second and more often while a request is on its way: whether it is broken off, which is
  // HttpFailure. May be empty.
  std::function<bool()> give_up{};
};

class Http {
 public:
  virtual ~Http() = default;
  // GET and HEAD follow redirects, and tell another host no credentials; one from elsewhere to this
  // machine or its link is refused. Throws HttpFailure, and Error(interrupted).
  virtual HttpAnswer send(const HttpRequest& request) = 0;
};

// Connections stay open between requests; several threads may send at the same time, each over a connection
// that is idle, else over a new one. Certificates are checked against SSL_CERT_FILE or the system's, and
// against the host's in certs.d, as skopeo does (containers-certs.d(5)). Throws Error(tool_missing) without
// libcurl.
std::unique_ptr<Http> open_http(HttpSettings settings);

// The version of libcurl, "7.88.1"; "" where it is not here.
std::string http_version();

}  // namespace kiln
