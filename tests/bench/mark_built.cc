// mark_built CATALOGUE STATE: leaves in STATE what tells kiln that every image of the catalogue is packaged,
// so that there is nothing to do: the names, without the images.
#include <cstdio>
#include <fstream>

#include "catalogue.h"
#include "image/state/state.h"
#include "plan/build_plan.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mark_built CATALOGUE STATE\n", stderr);
    return 2;
  }
  try {
    kiln::bench::Catalogue catalogue(argv[1]);
    kiln::StatePaths state(argv[2]);
    kiln::fs::create_directories(state.built("x").parent_path());
    std::ofstream(state.formats()) << "oci sif\n";  // as they would all be there
    const kiln::BuildPlan plan = kiln::plan_matrix(catalogue.matrix, catalogue.input());
    for (std::size_t number = 0; number < plan.size(); ++number) {
      const kiln::ResolvedImage image = plan.image(number);
      std::ofstream(state.built(image.record_name())) << "{}\n";
      kiln::fs::create_directories(state.layout(image.repository(), image.immutable_tag()));
    }
    std::printf("%zu\n", plan.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
