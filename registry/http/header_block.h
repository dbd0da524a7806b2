// A second, strict reader of a request's head. If a proxy and kiln read a head differently, a client can
// smuggle a request past the proxy.
#pragma once

#include <cstdint>
#include <string_view>

#include "registry/http/message.h"

namespace kiln {

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
