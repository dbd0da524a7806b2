// publish: what is built becomes rows and tags of the index, in one numbered snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/plan/build_plan.h"
#include "factory/record/image_record.h"
#include "factory/state/state.h"

namespace kiln {

struct PublishOptions {
  std::vector<std::uint32_t> broken{};  // cells that are to have an image, and have none
  std::vector<std::string> pruned{};    // names to take out: of lacking_images()
  // Is given the records before their snapshot is written, and says in them where else the images lie now.
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

// What the current snapshot has of a matrix, and the plan has not.
struct LackingImages {
  std::vector<std::string> names;  // "repository:tag" that this matrix published before, in their order
  std::size_t published = 0;       // all that it published and that is there
};

// REQUIRES: no cell of the plan is broken: nobody knows the names of those.
LackingImages lacking_images(const BuildPlan& plan, const StatePaths& state, const FileSystem& files);

}  // namespace kiln
