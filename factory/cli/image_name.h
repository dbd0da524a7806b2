// How people name an image on the command line, and what every command that reads one needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "factory/oci/image_source.h"
#include "factory/record/image_record.h"

namespace kiln {

class Invocation;

// The record of an image that `name` names: "repository:tag" or the digest of the manifest of the index, else
// repository:tag, immutable tag or cell of an image that is built and not published. nullopt for all else.
std::optional<ImageRecord> find_record(const std::string& name, Invocation& invocation);

// The document of that kind, or nullopt when the image has none. Throws Error(store) when it is damaged.
std::optional<std::string> read_attachment(const ImageRecord& record, const std::string& kind,
                                           Invocation& invocation);

// A name that find_record knows means the layout of that image; any other name has skopeo's meaning. Throws
// Error(no_match) with near names, Error(usage) for an unknown transport, Error(store) for a visibly damaged
// image of kiln's own.
ImageName name_of(const std::string& text, Invocation& invocation);

// The error that ended the command, with its real cause: a damaged image of kiln's own is damage of the
// store, with its blob and the remedy.
Error explained(const Error& error, const Invocation& invocation);

// Throws Error(input), in the words of all readers of files, if the folder or archive is missing.
void need_source(const ImageName& name, const Invocation& invocation);

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
