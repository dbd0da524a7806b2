// One run of the program: the global options, the effects, and what subcommands load again and again.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/app/catalogue.h"
#include "factory/base/effects.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/derive/derivation.h"
#include "factory/oci/pull.h"
#include "factory/plan/build_plan.h"
#include "factory/recipe/fact_sources.h"
#include "factory/recipe/lockfile.h"
#include "factory/run/build.h"
#include "factory/run/step.h"
#include "factory/share/shared_steps.h"
#include "factory/site/site.h"
#include "factory/state/state.h"
#include "registry/index/index.h"

namespace kiln {

struct GlobalOptions {
  std::string directory;
  std::string state = ".kiln";
  std::string site;
  std::string engine;     // in place of the site file's
  std::string partition;  // of the launcher, in place of the site file's
  bool no_cache = false;  // overrides the site file
  std::vector<std::string> recipes;
  std::string colour = "auto";
  std::string progress = "auto";
  bool quiet = false;
  std::string lockfile;
  bool locked = false;
  std::string mirror;    // in place of the site file's
  bool offline = false;  // build from it alone
  bool wait = false;     // for the lock of the state folder
};

// The files that -f names, read.
struct CatalogueFiles {
  RecipeBook recipes;
  TargetBook targets;
  Matrix matrix;
};

// The folder in which the program was started, held open: its path may lead through folders that this user
// may not enter (`sudo -u builder kiln …` below /root).
class StartFolder {
 public:
  StartFolder();
  ~StartFolder();
  StartFolder(const StartFolder&) = delete;
  StartFolder& operator=(const StartFolder&) = delete;
  void enter() const;  // throws Error(store)

 private:
  int fd_;
};

class Invocation {
 public:
  explicit Invocation(std::map<std::string, std::string> own) : environment(std::move(own)) {}

  // Reads recipes, targets and matrix, and the derived images of the state folder; `lock` fixes what it pins.
  // Recipes that are named and not found are
  // looked for in those that kiln was installed with. Throws Error(input), Error(usage).
  CatalogueFiles read(const std::string& matrix_file, const Lockfile* lock = nullptr);
  // The input of resolve() from them; `read` outlives it.
  ResolveInput resolve_input(const CatalogueFiles& read);
  // Reads recipes, targets and matrix, and plans all of it under the lockfile, if there is one. Warnings go
  // to stderr. Throws Error(locked) for differences that --locked forbids.
  Catalogue load(const std::string& matrix_file);
  // The same, but its faults are for the caller to tell.
  Catalogue load_untold(const std::string& matrix_file);
  // The same under `lock`, or without any (null), and without a word about what it does not cover.
  Catalogue plan(const std::string& matrix_file, const Lockfile* lock);
  // Prints on stderr, as load() does, the warnings about a matrix's cells, which may be resolved or only
  // expanded. Throws Error(input) for a bad site file.
  void note_cells(const Expansion& expansion, std::size_t images, std::size_t excluded) const;
  void note_faults(const std::vector<Error>& faults) const;  // as warnings: no cell needs what is wrong there
  // Folders of recipes in addition to those of matrices: named, in the current folder, or installed with
  // kiln.
  std::vector<fs::path> recipe_folders() const;
  // The known graph compilers: of the recipes that are named, are here or next to these matrices, or were
  // installed with kiln, and those of an index.
  std::vector<std::string> graph_compilers(const std::vector<std::string>& of_index,
                                           const std::vector<std::string>& matrices = {}) const;
  // Those of the same recipes that every build of a framework has.
  StockCompilers stock_compilers(const std::vector<std::string>& matrices) const;
  const Microarchitectures& cpus();
  fs::path archspec_file() const;        // from which those are read
  std::string archspec_version() const;  // of the tables in use; a digest where the user brought their own
  Site site() const;
  StatePaths state() const;
  bool has_index() const;
  // Opened for writing, files of the state folder are from then on as open as the folder is.
  Index index(Index::Mode mode) const;
  Progress progress() const;
  bool colour() const;
  // The environment that programs started by kiln get: ours without what only a shell needs.
  std::map<std::string, std::string> child_environment() const;
  Skopeo skopeo();  // which says on stderr how far it is
  // Where this site shares steps; null where it does not. Throws as SharedSteps does. `tell`: a line each.
  // REQUIRES: site and state outlive it.
  std::unique_ptr<SharedSteps> shared_steps(const Site& site, const StatePaths& state,
                                            std::function<void(const std::string&)> tell);
  StepSetup step_setup(const Site& site, const StatePaths& state);
  // The output on stdout of a program of the machine, for example scontrol. nullopt: there is no such
  // program, it failed, or it took longer. Throws Error(interrupted).
  std::optional<std::string> output_of(std::vector<std::string> argv,
                                       std::chrono::seconds most = std::chrono::seconds(20));
  void note(const std::string& text) const;  // a line on stderr unless --quiet; `heard` gets it either way
  // Error(input), in the words that every reader of files has, when there is no such file.
  void need_file(const fs::path& file) const;
  // Starts this program anew inside `buildah unshare` when it does not run as root: layers need a user
  // namespace in which files can belong to root and others. Returns only when there is nothing to do. Throws
  // Error(tool_missing).
  void need_root_or_namespace() const;
  // The same for a command that runs steps. Does nothing if those are jobs of Slurm: each job does it itself,
  // and in a namespace of kiln, munge and the controller would know no user.
  void need_root_for_steps() const;

  GlobalOptions options;
  std::map<std::string, std::string> environment;
  RealFileSystem files;
  RealCommandRunner runner;
  RealClock clock;
  ExitCode exit_code = ExitCode::ok;
  std::optional<ImageRecord> image_read;  // kiln's own image that the command reads
  std::vector<std::string> workloads;     // that the command names: read() looks for their recipes, too
  // Of this state folder: read() adds the derived images of a matrix as cells of it.
  bool with_derived = true;
  std::optional<Derivation> tried;  // in place of the one of its name that is recorded
  // Why read() could not add the cells of derivations: what the matrix lacks is not known then.
  std::vector<Error> damaged_derivations;
  std::string step_plan;   // of `kiln step`: whose build hears of it
  bool in_job = false;     // of `kiln step`: a job of Slurm runs it, whose output is read
  StartFolder started_in;  // before --directory
  // Gets each line of note() and of a build's progress; called by several threads. Empty: nothing does.
  std::function<void(const std::string&)> heard;

 private:
  void add_derived(CatalogueFiles& read);

  std::optional<Microarchitectures> cpus_;
};

// `share/kiln` next to the folder of the running program, with recipes/, matrix/ and archspec/:
// PREFIX/bin/kiln finds PREFIX/share/kiln, wherever PREFIX was moved. It need not exist. Of a program that
// lies in the build folder of a checkout, build/PRESET, the checkout.
fs::path shared_folder();

// The files of templates/ by name: generated by cmake/embed.cmake.
std::map<std::string_view, std::string_view> embedded_templates();

// Prints what the shells' completions ask, `kiln __complete WORDS…`: a line `none`, `files` or `folders` (the
// shell completes these itself), then lines of word, tab, description. `words`: from the one after `kiln` up
// to the one at the cursor. Files that cannot be read give no words, and no message: the user is still
// typing.
void print_completions(const CLI::App& app, std::vector<std::string> words, Invocation& invocation);

// Commands below `kiln index`.
void add_index_changes(CLI::App& index, Invocation& invocation);
void add_index_fsck(CLI::App& index, Invocation& invocation);

// Each subcommand is in a separate file, which defines the function of its name.
using Subcommand = CLI::App*(CLI::App& app, Invocation& invocation);
Subcommand add_init, add_lint, add_plan, add_show, add_generate, add_import, add_build, add_derive, add_test,
    add_step, add_log, add_shell, add_publish, add_bench, add_report, add_model, add_scale, add_tune,
    add_host, add_nightly, add_gc, add_select, add_job, add_module, add_index, add_infrastructure,
    add_scripts, add_inspect, add_serve, add_sif, add_mirror, add_lock, add_diff, add_schema, add_doctor,
    add_completion, add_man;

}  // namespace kiln
