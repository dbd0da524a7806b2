// What apt is told and says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/mirror/mirror.h"

namespace kiln {

// A package as the lists have it.
struct ListedPackage {
  std::string package;    // "libgomp1:amd64=14.2.0-19"
  std::size_t suite = 0;  // of MirrorArchive::suites
  std::string path;       // below the suite's folder: pool/main/…
  Digest digest;
  std::uint64_t size = 0;
};

// A suite's entry in the sources of this machine.
struct AptSource {
  std::string uri;    // with a name and a password, where it has them
  MirrorSuite suite;  // without its folder
};

// deb822 sources → their suites, one by one; those of packages for an architecture, by apt's word, or for all
// where it is "". What is disabled and sources of source packages are left out. Throws Error(input).
std::vector<AptSource> apt_sources(std::string_view text, const std::string& architecture = "");
// The line of `apt-get --print-uris`: 'URI' file size SHA256:hex; nullopt for another. `root` is in the URI.
std::optional<ListedPackage> listed_package(std::string_view line, const MirrorArchive& archive,
                                            const std::string& root);
std::string percent_decoded_path(std::string_view path);
std::string replaced_all(std::string text, std::string_view what, std::string_view by);

}  // namespace kiln
