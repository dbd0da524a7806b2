// publish: what is built becomes rows and tags of the index, in one numbered snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/oci/blob_store.h"
#include "factory/plan/build_plan.h"
#include "factory/record/image_record.h"
#include "factory/resolve/resolve.h"
#include "factory/state/record_store.h"
#include "factory/state/state.h"
#include "registry/index/index.h"

namespace kiln {

// The results of an image's tests, for its record in the index.

// Where and when it was run.
TestRun test_run(const TestRecord& record);

// By the records of the tests that its recipes have by now. REQUIRES: it is built (StateNames::is_built), so
// that they were all passed.
TestsRecord tests_of(const ResolvedImage& image, const StepTable& steps, const RecordReader& reader);

// The referrer of an image with the words of its gain over stock. kiln publish attaches it, because the words
// come from measurements, and those come after the image was built.

// Gives each record that claims more than stock the attachment "gain", in place of an earlier one, if its
// application was measured anywhere. `published`: the entries of the current snapshot, with the measurements
// that count. Equal measurements give equal bytes. Throws Error(store).
void attach_gain_words(std::vector<ImageRecord>& records, const std::vector<IndexEntry>& published,
                       const BlobStore& store);

// The state folder as a publication left it, so that a night in which nothing changed publishes nothing: to
// read ten thousand records and entries, and to find them equal, takes half of such a night.

// <state>/nights/<plan>/published.json. Valid for a week at most, after which all records are read again.
class PublicationMark {
 public:
  // REQUIRES: all outlive this; the state's lock is held.
  PublicationMark(const BuildPlan& plan, const StatePaths& state, FileSystem& files, const Clock& clock)
      : plan_(plan), state_(state), files_(files), clock_(clock) {}

  // Whether publish_built() of the whole plan would find everything as keep() did: the plan has the same
  // names for the same bits, and no process has written records, index or the folder of SIF files since.
  // Blobs, tests and flipped bits are not looked at. REQUIRES: all images of the plan are built.
  bool is_valid() const;
  // After a publication. If it cannot be written, the next night publishes again.
  void keep() const;

 private:
  fs::path file() const;
  std::string stamp() const;

  const BuildPlan& plan_;
  const StatePaths& state_;
  FileSystem& files_;
  const Clock& clock_;
};

struct PublishOptions {
  std::vector<std::uint32_t> broken{};  // cells that are to have an image, and have none
  std::vector<std::string> pruned{};    // names to take out: of lacking_images()
  // Gets the records before their snapshot is written, and adds the other places of the images.
  std::function<void(std::vector<ImageRecord>&)> place{};
};

struct Published {
  std::int64_t snapshot = 0;
  bool is_new = false;  // false: the current snapshot is already that
  std::size_t images = 0;
  std::size_t not_built = 0;  // these keep what they had, marked stale
  std::size_t failing = 0;    // these fail a test of today: so are their bits marked in the index
};

// Of these images those that are built, and the folder of SIF files after them. Throws
// Error(no_match) when none is built, nor fails a test. REQUIRES: the state's lock is held.
Published publish_built(const BuildPlan& plan, const ImageNumbers& images, const StatePaths& state,
                        const FileSystem& files, const Clock& clock, const PublishOptions& options = {});

// How many of these images are built.
std::size_t count_built(const BuildPlan& plan, const ImageNumbers& images, const StatePaths& state,
                        const FileSystem& files);

// The images of a matrix that are in the current snapshot and not in the plan.
struct LackingImages {
  std::vector<std::string> names;  // "repository:tag" that this matrix published before, in their order
  std::size_t published = 0;       // all that it published and that is there
};

// REQUIRES: no cell of the plan is broken: the names of those are not known.
LackingImages lacking_images(const BuildPlan& plan, const StatePaths& state, const FileSystem& files);

}  // namespace kiln
