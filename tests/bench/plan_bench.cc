// The stages from matrix to text, each alone, over catalogues of catalogue.py:
//
//   KILN_BENCH_1000=DIR KILN_BENCH_10000=DIR KILN_BENCH_100000=DIR plan_bench
//
// Items are cells, or files where it says so; the time of an item is what has to stay the same from size to
// size.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "catalogue.h"
#include "plan/planner.h"
#include "plan/render.h"

namespace kiln::bench {
namespace {

const Catalogue* catalogue_of(std::int64_t cells) {
  static std::map<std::int64_t, std::unique_ptr<Catalogue>> read;
  auto& catalogue = read[cells];
  const char* folder = std::getenv(("KILN_BENCH_" + std::to_string(cells)).c_str());
  if (!catalogue && folder != nullptr) catalogue = std::make_unique<Catalogue>(folder);
  return catalogue.get();
}

// Runs `body(catalogue)`, which returns its number of items.
template <typename Body>
void over_catalogue(benchmark::State& state, Body body) {
  const Catalogue* catalogue = catalogue_of(state.range(0));
  if (catalogue == nullptr) return state.SkipWithError("no such catalogue in the environment");
  std::size_t items = 0;
  for (auto _ : state) items += body(*catalogue);
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
}

void expand_cells(benchmark::State& state) {
  over_catalogue(
      state, [](const Catalogue& catalogue) { return Cells(catalogue.matrix, catalogue.recipes).size(); });
}

// Every key, tag and record name; nothing is kept of an image but its row of the plan.
void resolve_cells(benchmark::State& state) {
  over_catalogue(state, [](const Catalogue& catalogue) {
    Planner planner(catalogue.matrix, catalogue.input());
    while (planner.next()) benchmark::DoNotOptimize(planner.record_name());
    return planner.images();
  });
}

// The whole plan at once, every image and step of it.
void plan_cells(benchmark::State& state) {
  over_catalogue(state, [](const Catalogue& catalogue) {
    return plan_matrix(catalogue.matrix, catalogue.input()).images.size();
  });
}

void write_json(benchmark::State& state) {
  over_catalogue(state, [](const Catalogue& catalogue) {
    Planner planner(catalogue.matrix, catalogue.input());
    while (planner.next()) benchmark::DoNotOptimize(to_json(planner.image().spec).dump());
    return planner.images();
  });
}

// Rendering alone. Items are files: a Dockerfile and a Singularity.def of each of a hundred images.
void render_files(benchmark::State& state) {
  const Catalogue* catalogue = catalogue_of(1000);
  if (catalogue == nullptr) return state.SkipWithError("no such catalogue in the environment");
  Planner planner(catalogue->matrix, catalogue->input());
  std::vector<PlannedImage> images;
  for (std::size_t cell = 0; planner.next(); ++cell)
    if (cell % 10 == 0) images.push_back(planner.image());
  std::size_t bytes = 0;
  for (auto _ : state)
    for (const PlannedImage& image : images)
      bytes += render_dockerfile(image.spec).size() + render_singularity(image.spec).size();
  state.SetItemsProcessed(static_cast<std::int64_t>(2 * images.size() * state.iterations()));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

// From the matrix to the text of both files of each cell. Items are files.
void render_catalogue(benchmark::State& state) {
  over_catalogue(state, [](const Catalogue& catalogue) {
    Planner planner(catalogue.matrix, catalogue.input());
    while (planner.next()) {
      PlannedImage image = planner.image();
      benchmark::DoNotOptimize(render_dockerfile(image.spec));
      benchmark::DoNotOptimize(render_singularity(image.spec));
    }
    return 2 * planner.images();
  });
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);
}
BENCHMARK(expand_cells)->Apply(sizes);
BENCHMARK(resolve_cells)->Apply(sizes);
BENCHMARK(render_files)->Unit(benchmark::kMillisecond);
BENCHMARK(render_catalogue)->Apply(sizes);
BENCHMARK(write_json)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);
BENCHMARK(plan_cells)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);  // 100,000 would want gigabytes

}  // namespace
}  // namespace kiln::bench

BENCHMARK_MAIN();
