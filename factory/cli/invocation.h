// One run of the program: the global options, the effects, and what subcommands load again and again.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/effects.h"
#include "base/microarchitecture.h"
#include "image/build.h"
#include "image/state.h"
#include "image/step.h"
#include "plan/build_plan.h"
#include "plan/site.h"
#include "registry/index.h"

namespace kiln {

struct GlobalOptions {
  std::string directory;
  std::string state = ".kiln";
  std::string site;
  std::vector<std::string> recipes;
  std::string colour = "auto";
  std::string progress = "auto";
  bool quiet = false;
};

// What -f names, read and planned. `recipes` outlives the plan's users.
struct Catalogue {
  RecipeBook recipes;
  TargetBook targets;
  BuildPlan plan;
};

class Invocation {
 public:
  explicit Invocation(std::map<std::string, std::string> own) : environment(std::move(own)) {}

  // Reads recipes, targets and matrix, and plans all of it. Warnings go to stderr.
  Catalogue load(const std::string& matrix_file);
  const Microarchitectures& cpus();
  Site site() const;
  StatePaths state() const;
  Index index(Index::Mode mode) const;
  Progress progress() const;
  bool colour() const;
  // The environment that programs started by kiln get: ours without what only a shell needs.
  std::map<std::string, std::string> child_environment() const;
  StepSetup step_setup(const BuildPlan& plan, const Site& site, const StatePaths& state);
  void note(const std::string& text) const;  // a line on stderr unless --quiet
  // Starts this program anew inside `buildah unshare` when it does not run as root: layers need a user
  // namespace in which files can belong to root and others. Returns only when there is nothing to do. Throws
  // Error(tool_missing).
  void need_root_or_namespace() const;

  GlobalOptions options;
  std::map<std::string, std::string> environment;
  RealFileSystem files;
  RealCommandRunner runner;
  RealClock clock;
  ExitCode exit_code = ExitCode::ok;
  fs::path started_in = fs::current_path();  // before --directory

 private:
  std::optional<Microarchitectures> cpus_;
};

// The ids of the cells that `patterns` name (all of them without patterns). Throws Error(no_match) when a
// pattern matches nothing.
std::vector<std::string> choose_cells(const BuildPlan& plan, const std::vector<std::string>& patterns);

// Graph compilers that a DSL document may name as a boolean: those of the DSL's own pattern and those in the
// index.
std::vector<std::string> known_compilers(const std::vector<IndexEntry>& entries);

// Each subcommand in a file of its own.
using Subcommand = CLI::App* (*)(CLI::App& app, Invocation& invocation);
CLI::App* add_plan(CLI::App& app, Invocation& invocation);
CLI::App* add_show(CLI::App& app, Invocation& invocation);
CLI::App* add_generate(CLI::App& app, Invocation& invocation);
CLI::App* add_build(CLI::App& app, Invocation& invocation);
CLI::App* add_step(CLI::App& app, Invocation& invocation);
CLI::App* add_publish(CLI::App& app, Invocation& invocation);
CLI::App* add_bench(CLI::App& app, Invocation& invocation);
CLI::App* add_select(CLI::App& app, Invocation& invocation);
CLI::App* add_index(CLI::App& app, Invocation& invocation);
CLI::App* add_sif(CLI::App& app, Invocation& invocation);
CLI::App* add_schema(CLI::App& app, Invocation& invocation);
CLI::App* add_doctor(CLI::App& app, Invocation& invocation);
CLI::App* add_completion(CLI::App& app, Invocation& invocation);

}  // namespace kiln
