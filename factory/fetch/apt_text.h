// Reads and writes the texts of apt.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/mirror/mirror.h"
#include "factory/oci/blob_store.h"
#include "factory/oci/layer_stream.h"

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
// where it is "". Disabled sources and sources of source packages are left out. Throws Error(input).
std::vector<AptSource> apt_sources(std::string_view text, const std::string& architecture = "");
// The line of `apt-get --print-uris`: 'URI' file size SHA256:hex; nullopt for another. `root` is in the URI.
std::optional<ListedPackage> listed_package(std::string_view line, const MirrorArchive& archive,
                                            const std::string& root);
std::string percent_decoded_path(std::string_view path);
std::string replaced_all(std::string text, std::string_view what, std::string_view by);

// Which Debian packages a step left in its image.

// As apt-get names them: "libgomp1:amd64=14.2.0-19", "tzdata=2026b-1" of those for all architectures. Sorted.
using AptPackages = std::set<std::string>;

// Of the text of /var/lib/dpkg/status (deb822): what is installed. Throws Error(input).
AptPackages packages_in_status(std::string_view status);

// The files of apt and dpkg in a layer.

// Paths are relative to the image's root.
struct LayerApt {
  std::optional<std::string> status{};         // of dpkg: everything below this layer, too
  std::map<std::string, std::string> files{};  // apt's sources and keyrings, by path
  std::map<std::string, std::string> links{};  // symbolic links among them, as written
  std::vector<std::string> removed{};          // by whiteouts, folders with all that is in them
};

// Throws Error(input) for a damaged layer, and for such files of more than a few MiB; Error(store).
LayerApt read_apt(LayerStream& layer);
LayerApt read_apt(const BuiltLayer& layer, const BlobStore& store);

}  // namespace kiln
