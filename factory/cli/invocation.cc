#include "cli/invocation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

namespace kiln {
namespace {

// Recipes stand beside the matrix folder (`recipes/` next to `matrix/`), or beside the matrix file itself.
std::vector<fs::path> recipe_roots(const GlobalOptions& options, const fs::path& matrix,
                                   const FileSystem& files) {
  if (!options.recipes.empty()) return {options.recipes.begin(), options.recipes.end()};
  for (const fs::path& root :
       {matrix.parent_path() / "recipes", matrix.parent_path() / ".." / "recipes", fs::path("recipes")})
    if (files.is_directory(root)) return {root.lexically_normal()};
  throw Error(ExitCode::usage, "no recipes folder beside " + matrix.string(), "name it with --recipes");
}

}  // namespace

const Microarchitectures& Invocation::cpus() {
  if (!cpus_) {
    auto named = environment.find("KILN_ARCHSPEC");
    std::string file = named == environment.end() ? KILN_ARCHSPEC_JSON : named->second;
    auto bytes = files.read(file);
    if (!bytes)
      throw Error(ExitCode::tool_missing, "archspec's tables are missing: " + file,
                  "run ci/setup, or name microarchitectures.json in $KILN_ARCHSPEC");
    cpus_ = Microarchitectures::parse(*bytes, file);
  }
  return *cpus_;
}

Catalogue Invocation::load(const std::string& matrix_file) {
  fs::path file = matrix_file;
  RecipeBook recipes = RecipeBook::read(files, recipe_roots(options, file, files));
  TargetBook targets = TargetBook::read(files, file.parent_path() / "targets", cpus());
  BuildPlan plan = plan_matrix(read_matrix(files, file), {recipes, targets, cpus()});
  for (const std::string& warning : plan.warnings) note("warning: " + warning);
  if (plan.images.empty())
    note(fmt::format("warning: '{}' asks for no image: {} cells are excluded", plan.name,
                     plan.excluded.size()));
  site();  // a mistake in the site file shows before anything is run
  return {std::move(recipes), std::move(targets), std::move(plan)};
}

Site Invocation::site() const {
  return options.site.empty() ? find_site(files, environment) : read_site(files, options.site);
}

StatePaths Invocation::state() const { return StatePaths(fs::absolute(options.state).lexically_normal()); }

Index Invocation::index(Index::Mode mode) const { return Index::open(state().root(), mode); }

bool Invocation::colour() const {
  if (options.colour == "always") return true;
  if (options.colour == "never" || environment.contains("NO_COLOR")) return false;
  return ::isatty(STDERR_FILENO) != 0;
}

Progress Invocation::progress() const {
  std::string word = options.quiet ? "none" : options.progress;
  ProgressStyle style = progress_style(word, ::isatty(STDERR_FILENO) != 0);
  return Progress(
      style, clock,
      [](const std::string& text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
      },
      colour());
}

std::map<std::string, std::string> Invocation::child_environment() const {
  auto child = environment;
  for (const char* name : {"OLDPWD", "SHLVL", "_", "PWD", "LS_COLORS", "PS1"}) child.erase(name);
  return child;
}

StepSetup Invocation::step_setup(const BuildPlan& plan, const Site& site, const StatePaths& state) {
  StepSetup setup{plan, site, state, files, runner, clock, environment, {}};
  for (const auto& [key, step] : plan.steps)
    if (!step.component.empty()) setup.recipe_folders[step.component] = state.recipes() / step.component;
  return setup;
}

void Invocation::note(const std::string& text) const {
  if (!options.quiet) std::fprintf(stderr, "%s\n", text.c_str());
}

void Invocation::need_root_or_namespace() const {
  if (::geteuid() == 0) return;
  auto buildah = runner.find_program("buildah");
  if (!buildah)
    throw Error(ExitCode::tool_missing, "the program 'buildah' is not installed or not in PATH",
                "`kiln doctor` and `ci/setup` know what is needed");
  std::string line = files.read("/proc/self/cmdline").value_or("");
  std::vector<std::string> words = {"buildah", "unshare", "--", fs::read_symlink("/proc/self/exe").string()};
  for (std::size_t start = line.find('\0') + 1, end; (end = line.find('\0', start)) != std::string::npos;
       start = end + 1)
    words.push_back(line.substr(start, end - start));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  fs::current_path(started_in);
  ::execv(buildah->c_str(), argv.data());
  throw Error(ExitCode::tool_missing, std::string("cannot run buildah unshare: ") + std::strerror(errno));
}

std::vector<std::string> choose_cells(const BuildPlan& plan, const std::vector<std::string>& patterns) {
  std::vector<std::string> ids;
  std::vector<bool> used(patterns.size(), false);
  for (const PlannedImage& image : plan.images) {
    bool wanted = patterns.empty();
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      bool tag = image.spec.tag == patterns[i] || image.spec.repository + ":" + image.spec.tag == patterns[i];
      if (!tag && !matches_pattern(image.spec.request, patterns[i])) continue;
      used[i] = wanted = true;
    }
    if (wanted) ids.push_back(image.spec.request.id);
  }
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (!used[i])
      throw Error(ExitCode::no_match, fmt::format("no cell of '{}' matches '{}'", plan.name, patterns[i]),
                  "`kiln plan` lists the cells; a pattern is a glob over the id, or axis=value");
  return ids;
}

std::vector<std::string> known_compilers(const std::vector<IndexEntry>& entries) {
  std::set<std::string> names = {"xla", "glow", "ngraph", "inductor", "tvm", "openvino", "tensorrt"};
  for (const IndexEntry& entry : entries)
    for (const ComponentRecord& component : entry.image.components)
      if (component.kind == "compiler") names.insert(component.name);
  return {names.begin(), names.end()};
}

}  // namespace kiln
