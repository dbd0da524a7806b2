// How people name an image on the command line, and what every command that reads one needs.
#pragma once

#include <cstdint>
#include <string>

#include "base/effects.h"
#include "sif/image_source.h"

namespace kiln {

class Invocation;

unsigned usable_processors();  // that this process may run on, at least 1

// A name that find_record knows stands for the layout of that image; all else is as skopeo names it. Throws
// Error(no_match) with near names, Error(usage) for an unknown transport.
sif::ImageName name_of(const std::string& text, Invocation& invocation);

// Error(input), in the words that every reader of files has, when the folder or archive is not there.
void need_source(const sif::ImageName& name, const Invocation& invocation);

// skopeo knows registries, their logins and their certificates; what it fetched into `folder` is read as a
// layout. `architecture`: OCI's word. Throws as throw_registry_error does.
sif::ImageName fetch(const sif::ImageName& name, const std::string& architecture, const fs::path& folder,
                     Invocation& invocation);

// The referrers of the image fetched into `folder`, by the tag that stands for them where a registry has no
// API for referrers (distribution-spec: "sha256-…"). Without such a tag nothing is fetched.
void fetch_referrers(const sif::ImageName& name, const Digest& image, const fs::path& folder,
                     Invocation& invocation);

// Bytes done of all bytes, on stderr where that is a terminal. Gone with the object.
class ProgressBar {
 public:
  ProgressBar(Invocation& invocation, double start);  // of the clock's monotonic seconds
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(std::uint64_t done, std::uint64_t all);

 private:
  Invocation& invocation_;
  double start_;
  double last_ = 0;
  bool shown_ = false;
};

}  // namespace kiln
