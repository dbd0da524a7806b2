#include "factory/cli/invocation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include "factory/app/user_namespaces.h"
#include "factory/base/reading.h"
#include "factory/cli/lock_use.h"
#include "factory/cli/print.h"
#include "factory/engine/engine.h"
#include "factory/engine/user_namespace.h"
#include "factory/os/ignored_calls.h"
#include "factory/run/progress.h"
#include "factory/state/access.h"

namespace kiln {
namespace {

void write_to_stderr(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

ProgressStyle style_of(const GlobalOptions& options) {
  return progress_style(options.quiet ? "none" : options.progress, ::isatty(STDERR_FILENO) != 0);
}

std::string how_to_add(const std::vector<fs::path>& roots, const fs::path& of_kiln) {
  std::string options;
  for (const fs::path& root : roots) options += " --recipes " + root.string();
  return fmt::format(
      "warning: only these recipes are read:{}; kiln's own are not, as there is no {}; --recipes DIR{} adds "
      "those of DIR",
      options, of_kiln.string(), options);
}

}  // namespace

fs::path shared_folder() {
  std::error_code problem;
  fs::path program = fs::read_symlink("/proc/self/exe", problem);
  if (problem) return {};
  const fs::path folder = program.parent_path();
  const fs::path installed = folder.parent_path() / "share" / "kiln";
  const fs::path checkout = folder.parent_path().parent_path();
  const bool is_built_there = fs::exists(folder / "CMakeCache.txt", problem) &&
                              fs::exists(checkout / "recipes", problem) &&
                              fs::exists(checkout / "CMakeLists.txt", problem);
  return is_built_there ? checkout : installed;
}

fs::path Invocation::archspec_file() const {
  const auto named = environment.find("KILN_ARCHSPEC");
  if (named != environment.end()) return named->second;
  const fs::path installed = shared_folder() / "archspec" / "microarchitectures.json";
  return files.exists(installed) ? installed : fs::path(KILN_ARCHSPEC_JSON);
}

const Microarchitectures& Invocation::cpus() {
  if (!cpus_) {
    const std::string file = archspec_file().string();
    auto bytes = files.read(file);
    if (!bytes)
      throw Error(ExitCode::tool_missing, "archspec's tables are missing: " + file,
                  "run ci/setup, or name microarchitectures.json in $KILN_ARCHSPEC");
    cpus_ = Microarchitectures::parse(*bytes, file);
  }
  return *cpus_;
}

std::string Invocation::archspec_version() const {
  auto named = environment.find("KILN_ARCHSPEC");
  if (named == environment.end()) return KILN_ARCHSPEC_VERSION;
  return Digest::of(files.read(named->second).value_or("")).text();
}

CatalogueFiles Invocation::read(const std::string& matrix_file, const Lockfile* lock) {
  fs::path file = matrix_file;
  need_file(file);
  std::vector<fs::path> roots = recipe_roots(options.recipes, file, shared_folder(), files);
  const fs::path of_kiln = shared_folder() / "recipes";
  RecipeBook recipes = RecipeBook::read(files, roots);
  TargetBook targets = TargetBook::read(files, file.parent_path() / "targets", cpus());
  Matrix matrix = read_matrix(files, file);
  if (needs_own_recipes(recipes, matrix, workloads)) {
    if (files.is_directory(of_kiln)) {
      roots.insert(roots.begin(), of_kiln);  // a component in a later folder is the one that counts
      recipes = RecipeBook::read(files, roots);
    } else {
      note(how_to_add(roots, of_kiln));
    }
  }
  if (lock != nullptr) pin_recipes(recipes, *lock);
  CatalogueFiles read{std::move(recipes), std::move(targets), std::move(matrix)};
  if (with_derived) add_derived(read);
  return read;
}

void Invocation::add_derived(CatalogueFiles& read) {
  const StatePaths state = this->state();
  damaged_derivations.clear();
  auto tell = [this](const Error& error) {
    note(error.format("warning"));
    if (error.code() == ExitCode::store) damaged_derivations.push_back(error);
  };
  std::vector<Derivation> derivations = DerivedStore(state, files).all(tell);
  if (tried) {
    std::erase_if(derivations, [this](const Derivation& one) { return one.name == tried->name; });
    derivations.push_back(*tried);
  }
  add_derived_cells(read.matrix, read.recipes, derivations, state, files, tell);
}

void Invocation::note_cells(const Expansion& expansion, std::size_t images, std::size_t excluded) const {
  for (const std::string& warning : expansion.warnings()) note("warning: " + warning);
  if (images == 0)
    note(fmt::format("warning: '{}' asks for no image: {} cells are excluded", expansion.matrix().name,
                     excluded));
  site();  // a mistake in the site file shows before anything is run
}

void Invocation::note_faults(const std::vector<Error>& faults) const {
  for (const Error& error : faults) note(error.format("warning"));
}

ResolveInput Invocation::resolve_input(const CatalogueFiles& read) {
  return {read.recipes, read.targets, cpus(), std::string(engine_family(site().engine))};
}

Catalogue Invocation::plan(const std::string& matrix_file, const Lockfile* lock) {
  CatalogueFiles read = this->read(matrix_file, lock);
  BuildPlan plan = plan_matrix(std::move(read.matrix), resolve_input(read));
  note_cells(plan.resolution().expansion(), plan.size() + plan.broken(), plan.excluded());
  std::vector<Error> faults = faults_beside(plan.resolution(), read.recipes, read.targets);
  return {std::move(read.recipes), std::move(plan), std::move(faults)};
}

Catalogue Invocation::load_untold(const std::string& matrix_file) {
  std::optional<Lockfile> lock = find_lockfile(matrix_file, *this);
  Catalogue catalogue = plan(matrix_file, lock ? &*lock : nullptr);
  if (lock) check_lock(lock_needs(catalogue.plan.resolution(), catalogue.recipes), *lock, matrix_file, *this);
  return catalogue;
}

Catalogue Invocation::load(const std::string& matrix_file) {
  Catalogue catalogue = load_untold(matrix_file);
  note_faults(catalogue.faults);
  return catalogue;
}

Site Invocation::site() const {
  return with_wishes(options.site.empty() ? find_site(files, environment) : read_site(files, options.site),
                     {options.engine, options.partition, options.mirror, options.no_cache, options.offline});
}

StatePaths Invocation::state() const { return StatePaths(fs::absolute(options.state).lexically_normal()); }

bool Invocation::has_index() const { return files.exists(state().root() / "index.db"); }

Index Invocation::index(Index::Mode mode) const {
  if (mode == Index::Mode::write) follow_permissions(state());
  return Index::open(state().root(), mode);
}

bool Invocation::colour() const {
  if (options.colour == "always") return true;
  if (options.colour == "never" || environment.contains("NO_COLOR")) return false;
  return ::isatty(STDERR_FILENO) != 0;
}

Progress Invocation::progress() const {
  return Progress(style_of(options), clock, write_to_stderr, colour(), heard);
}

Skopeo Invocation::skopeo() {
  return {runner, clock, child_environment(), site().pull_limits,
          pull_teller(style_of(options), clock, write_to_stderr)};
}

std::map<std::string, std::string> Invocation::child_environment() const {
  auto child = environment;
  for (const char* name : {"OLDPWD", "SHLVL", "_", "PWD", "LS_COLORS", "PS1", kOutside}) child.erase(name);
  return child;
}

std::unique_ptr<SharedSteps> Invocation::shared_steps(const Site& site, const StatePaths& state,
                                                      std::function<void(const std::string&)> tell_line) {
  return open_shared_steps({site.shared_steps, site.pull_limits, state, files, runner, clock,
                            child_environment(), std::move(tell_line)});
}

StepSetup Invocation::step_setup(const Site& site, const StatePaths& state) {
  return {site, state, files, runner, clock, environment, {}, {}};
}

std::optional<std::string> Invocation::output_of(std::vector<std::string> argv, std::chrono::seconds most) {
  return runner.answer(std::move(argv), child_environment(), most);
}

void Invocation::note(const std::string& text) const {
  if (heard) heard(text);
  if (!options.quiet) tell(text);
}

StartFolder::StartFolder() : fd_(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

StartFolder::~StartFolder() {
  if (fd_ >= 0) ::close(fd_);
}

void StartFolder::enter() const {
  if (::fchdir(fd_) != 0)
    throw Error(ExitCode::store,
                fmt::format("cannot go back to the folder where kiln was started: {}", std::strerror(errno)));
}

void Invocation::need_file(const fs::path& file) const {
  if (files.exists(file) && !files.is_directory(file)) return;
  MissingFile missing = describe_missing(files, file);
  throw Error(ExitCode::input, std::move(missing.message), std::move(missing.hint));
}

void Invocation::need_root_for_steps() const {
  if (steps_need_root(site())) need_root_or_namespace();
}

void Invocation::need_root_or_namespace() const {
  const Site site = this->site();
  if (needs_engine_here(site)) need_engine(site.engine, runner);
  const RootWay way = root_way(::geteuid() == 0, site);
  if (way == RootWay::has_it) {
    if (auto outside = environment.find(kOutside); outside != environment.end())
      report_to_outside(outside->second);
    if (is_single_id(files.read("/proc/self/uid_map").value_or(""))) stop_setting_groups();
    return;
  }
  std::vector<std::string> words =
      words_again(files.read("/proc/self/cmdline").value_or(""), fs::read_symlink("/proc/self/exe").string());
  if (way == RootWay::own_namespace) {
    const NamespaceIds ids = ids_of_user(files, runner);
    started_in.enter();
    run_in_own_namespace(std::move(words), ids);
  }
  need_engine(site.engine, runner);
  words.insert(words.begin(), {runner.find_program(site.engine)->string(), "unshare", "--"});
  started_in.enter();
  run_in_user_namespace(std::move(words));
}

std::vector<fs::path> Invocation::recipe_folders() const {
  std::vector<fs::path> folders(options.recipes.begin(), options.recipes.end());
  folders.emplace_back("recipes");
  folders.push_back(shared_folder() / "recipes");
  return folders;
}

StockCompilers Invocation::stock_compilers(const std::vector<std::string>& matrices) const {
  return kiln::stock_compilers(files, with_recipes_beside(recipe_folders(), matrices));
}

std::vector<std::string> Invocation::graph_compilers(const std::vector<std::string>& of_index,
                                                     const std::vector<std::string>& matrices) const {
  std::vector<std::string> of_recipes =
      recipe_names(files, with_recipes_beside(recipe_folders(), matrices), Kind::compiler);
  std::set<std::string> names(of_recipes.begin(), of_recipes.end());
  names.insert(of_index.begin(), of_index.end());
  return {names.begin(), names.end()};
}

}  // namespace kiln
