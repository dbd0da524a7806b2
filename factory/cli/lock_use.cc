#include "factory/cli/lock_use.h"

#include <fmt/format.h>

#include "factory/app/night_lock.h"
#include "factory/base/reading.h"
#include "factory/cli/print.h"
#include "factory/run/script.h"

namespace kiln {

Lockfile read_lockfile_at(const fs::path& file, const FileSystem& files) {
  return read_lockfile(read_document(files, file));
}

std::optional<Lockfile> find_lockfile(const fs::path& matrix, const Invocation& invocation) {
  const GlobalOptions& options = invocation.options;
  if (!options.lockfile.empty()) return read_lockfile_at(options.lockfile, invocation.files);
  fs::path beside = lockfile_beside(matrix);
  if (invocation.files.exists(beside)) return read_lockfile_at(beside, invocation.files);
  if (options.locked)
    throw Error(ExitCode::locked, fmt::format("--locked, and there is no lockfile {}", beside.string()),
                fmt::format("kiln lock -f {} makes it", matrix.string()));
  return std::nullopt;
}

void check_lock(const LockNeeds& needs, const Lockfile& lock, const std::string& matrix,
                Invocation& invocation) {
  RecipeDigest recipe;  // an edit is nothing to warn of: `kiln plan` says what it changes
  if (invocation.options.locked)
    recipe = [&](const Recipe& edited) { return recipe_digest(edited, invocation.files); };
  auto gaps = lock_gaps(needs, lock, invocation.archspec_version(), recipe);
  if (gaps.empty()) return;
  std::string remedy = fmt::format("kiln lock -f {}", matrix);
  if (lock.file != lockfile_beside(matrix)) remedy += " -o " + lock.file;
  if (!invocation.options.locked) {
    for (const LockGap& gap : gaps)
      invocation.note(Error(ExitCode::locked, gap.where, gap.what).format("warning"));
    return invocation.note(
        fmt::format("warning: {} does not cover this plan; {} mends it", lock.file, remedy));
  }
  for (const LockGap& gap : gaps) tell(Error(ExitCode::locked, gap.where, gap.what).format());
  throw Error(ExitCode::locked,
              fmt::format("--locked: {} thing{} {} does not have so", gaps.size(),
                          gaps.size() == 1 ? " that" : "s that", lock.file),
              fmt::format("look at them, then {}", remedy));
}

LockAsker::LockAsker(Invocation& invocation)
    : invocation_(invocation),
      site_(invocation.site()),
      registry_(invocation.skopeo()),
      history_(invocation.runner, invocation.child_environment(), fetched_.path(), site_.pull_limits) {}

std::string LockAsker::ask_archive(const LockNeed& need, const std::string& architecture) {
  StatePaths state = invocation_.state();
  StepSetup setup = invocation_.step_setup(site_, state);
  const Step& base = need.base_steps.at(architecture);
  TemporaryFolder folder;
  const fs::path files = folder.path() / "recipe";
  for (const auto& [path, file] : need.component->files)
    invocation_.files.write_output(files / path, file.bytes);
  setup.recipe_folders[base.component] = files;
  return archive_state(base, need.method->archive, architecture, setup, folder.path());
}

LockSources LockAsker::sources() {
  return {[this](const std::string& reference, const std::string& architecture) {
            return registry_.digest(reference, architecture);
          },
          [this](const LockNeed& need, const std::string& architecture) {
            return ask_archive(need, architecture);
          },
          [this](const Recipe& recipe) { return recipe_digest(recipe, invocation_.files); },
          invocation_.archspec_version(),
          [this](const std::string& url, const std::string& commit) { return history_.ref_of(url, commit); },
          [this](const Step& base) { return invocation_.files.exists(invocation_.state().step(base.key)); },
          invocation_.clock.unix_seconds()};
}

PolicyUpdate update_by_site_policy(const Catalogue& catalogue, const std::optional<Lockfile>& previous,
                                   Invocation& invocation) {
  LockAsker asker(invocation);
  LockSources sources = asker.sources();
  sources.digest = asking_once(sources.digest);
  return update_by_policy(lock_needs(catalogue.plan.resolution(), catalogue.recipes),
                          previous ? &*previous : nullptr,
                          scope_of_night(invocation.options.locked, catalogue.plan.broken() > 0),
                          invocation.site().update, sources);
}

}  // namespace kiln
