// Which Debian packages a step left in its image.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kiln {

// As apt-get names them: "libgomp1:amd64=14.2.0-19", "tzdata=2026b-1" of those for all architectures. Sorted.
using AptPackages = std::set<std::string>;

// Of the text of /var/lib/dpkg/status (deb822): what is installed. Throws Error(input).
AptPackages packages_in_status(std::string_view status);

}  // namespace kiln
