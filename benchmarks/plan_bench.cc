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
#include "factory/plan/plan_json.h"
#include "factory/render/render.h"

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
      state, [](const Catalogue& catalogue) { return expand(catalogue.matrix, catalogue.recipes).size(); });
}

// Every key and record name; expand is part of it.
void resolve_cells(benchmark::State& state) {
  over_catalogue(state, [](const Catalogue& catalogue) {
    return resolve(expand(catalogue.matrix, catalogue.recipes), catalogue.input()).size();
  });
}

// All of a plan.
void plan_cells(benchmark::State& state) {
  over_catalogue(state, [](const Catalogue& catalogue) {
    return plan_matrix(catalogue.matrix, catalogue.input()).size();
  });
}

void write_json(benchmark::State& state) {
  over_catalogue(state, [](const Catalogue& catalogue) {
    const BuildPlan plan = plan_matrix(catalogue.matrix, catalogue.input());
    for (std::size_t image = 0; image < plan.size(); ++image)
      benchmark::DoNotOptimize(to_json(plan.image(image).spec()).dump());
    return plan.size();
  });
}

// Rendering alone. Items are files: a Dockerfile and a Singularity.def of each of a hundred images.
void render_files(benchmark::State& state) {
  const Catalogue* catalogue = catalogue_of(1000);
  if (catalogue == nullptr) return state.SkipWithError("no such catalogue in the environment");
  const BuildPlan plan = plan_matrix(catalogue->matrix, catalogue->input());
  std::vector<ImageSpec> images;
  for (std::size_t image = 0; image < plan.size(); image += 10) images.push_back(plan.image(image).spec());
  std::size_t bytes = 0;
  for (auto _ : state)
    for (const ImageSpec& image : images)
      bytes += render_dockerfile(image).size() + render_singularity(image).size();
  state.SetItemsProcessed(static_cast<std::int64_t>(2 * images.size() * state.iterations()));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

// From the matrix to the text of both files of each cell. Items are files.
void render_catalogue(benchmark::State& state) {
  over_catalogue(state, [](const Catalogue& catalogue) {
    const BuildPlan plan = plan_matrix(catalogue.matrix, catalogue.input());
    for (std::size_t image = 0; image < plan.size(); ++image) {
      const ImageSpec spec = plan.image(image).spec();
      benchmark::DoNotOptimize(render_dockerfile(spec));
      benchmark::DoNotOptimize(render_singularity(spec));
    }
    return 2 * plan.size();
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
BENCHMARK(plan_cells)->Apply(sizes);

}  // namespace
}  // namespace kiln::bench

BENCHMARK_MAIN();
