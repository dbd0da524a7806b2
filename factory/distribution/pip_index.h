// The package index that pip would ask on this machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "factory/base/effects.h"

namespace kiln {

struct PipIndex {
  std::string url;           // without a name and a password, and without a slash at its end
  std::string credentials;   // "name:password" of the URL; "" without
  std::string certificates;  // file of certificate authorities; "" = the system's
  std::string from;          // its source: "PIP_INDEX_URL", "/etc/pip.conf"
};

// As pip reads it: PIP_INDEX_URL (PIP_CERT), else index-url (cert) of its configuration files, where a later
// file and [install] count more than an earlier one and [global]. `file`: the one that the site names, in
// place of all others. Its `url` is "" when nothing names an index; pip then uses its default. nullopt for
// no-index. Throws Error(input) for an invalid URL, without its password in the message.
std::optional<PipIndex> pip_index(const FileSystem& files,
                                  const std::map<std::string, std::string>& environment,
                                  const std::string& file = "");

// The default that pip's own help (`pip install --help`, not wrapped) says for --index-url; "" without one.
std::string default_index_in(std::string_view help);

}  // namespace kiln
