// The environment variables of scripts: one table, from which everything else about them is derived. The
// tables of docs/formats/recipe.md and docs/formats/targets.md are written from it
// (tests/recipe/parameters_test.cc compares).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "factory/recipe/recipe.h"

namespace kiln {

// The scripts that get a variable. Variables that are not listed are in no key.
enum class GivenTo {
  lister,           // a script whose method lists it under "parameters"
  lister_and_test,  // every test of the component as well, listed or not
  every_script,
  rootfs_script,
  archive_script,
};

// Source of its value.
enum class ParameterKind {
  own,             // this component's version and method: the same wherever the method is used
  archive,         // the lockfile
  fact,            // facts of the version
  others,          // the image's components of a kind
  target,          // the target alone
  optimise,        // requested by the method and the cell
  cpu_flags,       // the compiler of the stage and the target
  compiler_flags,  // these, and what the method and the cell ask for
  gpu_flags,       // the target's GPUs
  build,           // where and how it is built: never the image's own
};

struct Parameter {
  std::string_view
      name;  // <KIND> stands for each kind in capitals, <NAME> for any fact, a last * for any ending
  ParameterKind kind;
  GivenTo given_to;
  std::string_view meaning;  // as the documentation has it; neighbours with equal meanings share a row there
  std::string_view read_by{};  // flags: the build systems that read it
};

// In the order of the documentation and of `kiln show --flags`.
std::span<const Parameter> parameters();

// The row of this variable; that of KILN_FACT_<NAME> for KILN_FACT_PYTHON. nullptr for other names.
const Parameter* find_parameter(std::string_view name);

// Whether a script of the method reads the version's source. The commit of a wheel need not be looked up.
bool reads_source(const Method& method);

// True for a parameter that a method may list.
bool is_known_parameter(std::string_view name);

// True for the variables that every script gets and that no key covers (KILN_JOBS, HOME, PIP_*, …): listing
// one is an error.
bool is_given_to_every_script(std::string_view name);

// Every name that a method may list, for "did you mean"; KILN_FACT_<NAME> is an open set and not among them.
std::vector<std::string> known_parameters();

// Those that every test is given.
const std::vector<std::string>& parameters_of_tests();

// The fact that KILN_FACT_<NAME> reads ("python" for KILN_FACT_PYTHON), "" for other names.
std::string fact_of_parameter(std::string_view name);

// The kind that KILN_<KIND>_NAME and KILN_<KIND>_VERSION speak of, nothing for other names.
std::optional<Kind> kind_of_parameter(std::string_view name);

// Flags that depend on the compiler of the stage, and those that depend on the GPUs alone.
const std::vector<std::string>& compiler_variables();
const std::vector<std::string>& gpu_variables();
bool is_compiler_variable(std::string_view name);
bool is_gpu_variable(std::string_view name);
bool depends_on_optimise(std::string_view name);  // of those that depend on the compiler

// The caches that a method may declare ("cache": ["ccache"]): folders that a script finds again when it runs
// another time, and that are in no key and in no layer. run/caches.cc has each tool's settings that keep the
// cached files from changing bits.
struct CacheKind {
  std::string_view name;     // in recipes
  std::string_view word;     // a script that uses it has this,
  std::string_view without;  // and not this, which switches it off
  std::string_view how;      // the duty of a script, for people
};

const CacheKind* find_cache_kind(std::string_view name);  // nullptr: unknown
const std::vector<std::string>& cache_names();

}  // namespace kiln
