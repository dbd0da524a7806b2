// UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <string_view>

namespace kiln {

// The offset of the first byte that belongs to no character; npos when there is none.
std::size_t first_not_utf8(std::string_view text);

}  // namespace kiln
