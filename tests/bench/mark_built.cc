// mark_built CATALOGUE STATE: leaves in STATE what tells kiln that every image of the catalogue is packaged,
// so that there is nothing to do: the names, without the images.
#include <cstdio>
#include <fstream>

#include "catalogue.h"
#include "image/state.h"
#include "plan/planner.h"

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
    kiln::Planner planner(catalogue.matrix, catalogue.input());
    while (planner.next()) {
      std::ofstream(state.built(planner.record_name())) << "{}\n";
      kiln::fs::create_directories(state.layout(planner.repository(), planner.immutable_tag()));
    }
    std::printf("%zu\n", planner.images());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
