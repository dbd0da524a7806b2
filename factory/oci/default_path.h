// Where an image's shell looks for programs when nothing says otherwise.
#pragma once

namespace kiln {

inline constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace kiln
