// Fills a mirror with all inputs of a plan's images (docs/air-gapped.md). Complete items are not fetched
// again, and one failed source does not stop the others.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/fetch/wheels.h"
#include "factory/mirror/mirror_folder.h"
#include "factory/oci/pull.h"
#include "factory/run/step.h"

namespace kiln {

struct FillSetup {
  const StepSetup& steps;  // the site is not offline
  const BuildPlan& plan;
  const ImageNumbers& images;
  const RecipeBook& recipes;
  const MirrorFolder& folder;
  fs::path temporary;  // private
  Skopeo skopeo;
  std::function<WheelFetcher&()> wheels;  // made when it is needed
  std::function<Http&()> http;            // the same
  std::map<std::string, std::string> git_environment;
  std::function<void(const std::string&)> tell;  // gets the name of the current item
};

struct FillReport {
  std::size_t items = 0;          // that the images need
  std::uint64_t bytes = 0;        // of files among them
  std::size_t fetched = 0;        // now
  std::size_t unbuilt = 0;        // steps whose packages are not known
  std::vector<std::string> lost;  // of earlier lockfiles, damaged: they are no items any more
  std::vector<Error> problems;
};

// Writes the manifest as the last thing; also after problems, with all that is there. Throws
// Error(interrupted), Error(store).
FillReport fill_mirror(const FillSetup& setup);

}  // namespace kiln
