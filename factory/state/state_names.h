// The contents of the state folder, found by one look into each of its folders and at each blob: for callers
// that ask about many images.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "factory/base/effects.h"
#include "factory/resolve/resolve.h"
#include "factory/state/blob_ledger.h"
#include "factory/state/state.h"

namespace kiln {

// Each folder is read, and each blob looked at, when something of it is first asked for; what comes later is
// not seen.
class StateNames {
 public:
  // REQUIRES: both outlive this.
  StateNames(const StatePaths& state, const FileSystem& files);
  // Begins to look at the blobs and tests of all images in another thread, for a caller that will ask about
  // many.
  void look_ahead();

  // Whether an image is built, for all commands: it is packaged, and its bits passed the tests that its
  // recipes have by now. lacks_format() says whether it has every format that the site file requests.
  bool is_built(const ImageSpec& spec);
  bool is_built(const ResolvedImage& image, const StepTable& steps);
  // Its record and its layout are there, and each of its blobs has the size that it was written with.
  bool is_packaged(const ResolvedImage& image) {
    return is_packaged(image.record_name(), image.repository(), image.immutable_tag());
  }
  // The same by its names: record_name() of the image, repository and immutable tag.
  bool is_packaged(std::string_view record_name, const std::string& repository,
                   std::string_view immutable_tag);
  // Its bits failed a test that its recipes have by now, when it was run last.
  bool is_failing(const ResolvedImage& image, const StepTable& steps);
  // The image was packaged, although parts of it may be missing or damaged by now.
  bool has_image_record(std::string_view record_name);
  // The step is done: its record is there, and the layers that it made have the sizes that they were written
  // with.
  bool has_step(std::string_view key) { return steps_.is_whole(key); }
  // The test passed: its record is there, and can be read.
  bool has_test(const Sha256& key);
  bool has_test(const std::string& key) { return tests_.is_whole(key); }
  bool has_failure(std::string_view key) { return has(failures_, state_->failure(key)); }

  // Keeps what was found of blobs for the next process. Throws Error(store).
  void keep(FileSystem& files);

 private:
  bool has(std::optional<NameSet>& names, const fs::path& file);

  const StatePaths* state_;
  const FileSystem* files_;
  BlobLedger images_;
  BlobLedger steps_;
  BlobLedger tests_;
  std::optional<NameSet> failures_;
  std::map<std::string, NameSet> layouts_;  // by repository
};

}  // namespace kiln
