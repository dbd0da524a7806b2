// The head of a request, read once more and strictly: what two programs on one way read differently is how
// requests are smuggled past the first.
#pragma once

#include <cstdint>
#include <string_view>

#include "registry/http/message.h"

namespace kiln {

// What became of the head.
struct HeaderBlock {
  int status = 0;         // 0: it is as it must be; else the status of the refusal
  const char* why = "";   // for the refusal
  HttpHeaders headers{};  // as ReceivedRequest has them
  std::uint64_t content_length = 0;
};

// `block`: method, target, version and headers as libmicrohttpd leaves them: the first blank, the last before
// the version, each CR, each LF that ends a line and the colons are NULs. So a line that ends otherwise than
// with CR LF, a line that goes on (obs-fold), a NUL of the client's and whatever else is not a header's, is
// seen. `target_bytes`: length of the target, which libmicrohttpd writes over.
HeaderBlock read_header_block(std::string_view block, std::size_t target_bytes);

}  // namespace kiln
