// A catalogue of benchmarks/catalogue.py, read.
#pragma once

#include <filesystem>

#include "factory/base/effects.h"
#include "factory/recipe/matrix.h"
#include "factory/recipe/recipe.h"
#include "factory/resolve/resolve.h"

namespace kiln::bench {

struct Catalogue {
  explicit Catalogue(const fs::path& folder)
      : cpus(Microarchitectures::parse(files.read(KILN_ARCHSPEC_JSON).value(), KILN_ARCHSPEC_JSON)),
        recipes(RecipeBook::read(files, {folder / "recipes"})),
        targets(cpus),
        matrix(read_matrix(files, folder / "matrix/bench.json")) {}
  ResolveInput input() const { return {recipes, targets, cpus}; }

  RealFileSystem files;
  Microarchitectures cpus;
  RecipeBook recipes;
  TargetBook targets;
  Matrix matrix;
};

}  // namespace kiln::bench
