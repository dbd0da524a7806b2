// A matrix: what is wanted. GitHub Actions' words and order (axes, exclude, include), plus constraints.
// Schema: `kiln schema matrix`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/base/version.h"

namespace kiln {

// Of one matrix; checked on the computed product before anything is expanded.
inline constexpr std::uint64_t kMaxCells = 100'000;

// Axis name → value. Axes that kiln knows: framework, version, method, base, toolchain, library, compiler,
// distributed, runtime, workload, application, target, optimise. The value of a component axis is `none` or
// `name[@version][:method]`, several joined by `+`.
using AxisValues = std::map<std::string, std::string>;

struct Axis {
  std::string name;
  std::vector<std::string> values;  // in the file's order; a version range stays as written until expand
  SourceLocation where;
};

// A partial cell with the place it was written.
struct Partial {
  AxisValues values;  // values are version ranges on version axes, globs elsewhere
  SourceLocation where;
  std::string reason{};  // of an exclude, mostly ""
};

struct Constraint {
  AxisValues when;
  AxisValues require;  // exactly one of require/forbid is non-empty
  AxisValues forbid;
  std::string reason;
  SourceLocation where;
  std::map<std::string, SourceLocation> fact_keys{};  // where a fact is named, by "if/framework.python"
};

// One `axes` block with what belongs to it; a matrix file holds one block or several ("groups").
struct MatrixGroup {
  std::string name;
  std::vector<Axis> axes;
  std::vector<Partial> exclude;
  std::vector<Partial> include;
};

struct Matrix {
  std::string name;
  std::vector<MatrixGroup> groups;
  std::vector<Constraint> constraints;  // hold for every group
  std::string file;
};

// Reads a matrix and, through `files`, the catalogues that it includes ("includes": ["other.json"], depth ≤
// 32, cycles are an error that prints the chain).
Matrix read_matrix(const FileSystem& files, const fs::path& file);

// The number of cells before exclude and include. Throws Error(input) naming the size (as a power of two
// where 64 bits do not hold it) and the largest axes when it exceeds `limit`; never expands anything.
// read_matrix asks it for kMaxCells before it looks at the axes' names and values.
std::uint64_t checked_size(const MatrixGroup& group, std::uint64_t limit);

}  // namespace kiln
