// The sources of packages that steps install on a pulled base: apt's sources in the image, and its trusted
// keys. Base and steps are taken together: apt in any of them is to find its own.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/fetch/apt_text.h"
#include "factory/mirror/mirror.h"

namespace kiln {

// A suite of an archive, and the keys that may sign it.
struct ImageSource {
  std::string uri;        // without a slash at its end
  MirrorSuite suite;      // without its folder; no Signed-By where there is a keyring
  std::string keyring{};  // OpenPGP certificates one after the other, binary; "": apt's own options name them
  bool operator==(const ImageSource&) const = default;
};

class ImageApt {
 public:
  // The next layer of the base, the lowest first.
  void add_layer(const LayerApt& layer);
  // Adds the files of a step on top of the base. The steps are not stacked on each other, so a step removes
  // nothing.
  void add_step(const LayerApt& layer);

  // Packages of the base. Throws Error(input) for an invalid status file.
  AptPackages packages() const { return packages_in_status(status_); }
  // The sources of an architecture, as apt lists them. Sources of other kinds than http and https are left
  // out: only the image can read them. Throws Error(input) for an unreadable source, and for a keyring that
  // is missing or of a kind that apt does not know.
  std::vector<ImageSource> sources(const std::string& architecture) const;

 private:
  std::string keyring_at(const std::string& path) const;
  std::string trusted() const;
  std::string keyring_of(const std::string& signed_by) const;

  std::string status_;
  std::map<std::string, std::set<std::string>> files_;  // by path: as the base has it, as steps changed it
  std::map<std::string, std::string> links_;
};

// One-line sources (sources.list(5)) as deb822 paragraphs, those of source packages left out. Throws
// Error(input).
std::string deb822_of_lines(std::string_view text);

// An OpenPGP keyring as apt takes it, without its ASCII armour (RFC 9580, section 6.2), so that several can
// be joined. Throws Error(input) that names it by `name`: GnuPG's keybox is not accepted.
std::string binary_keyring(std::string_view bytes, const std::string& name);

}  // namespace kiln
