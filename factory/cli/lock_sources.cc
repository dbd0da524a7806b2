#include "factory/cli/lock_sources.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "factory/run/archive_state.h"
#include "factory/state/kept_lock.h"

namespace kiln {

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

void refuse_broken(const BuildPlan& plan) {
  if (plan.broken() == 0) return;
  BrokenCell cell = plan.broken(0);
  throw cell.why.while_doing(fmt::format("planning {} for the lockfile", cell.request.id));
}

NightLockfile::NightLockfile(fs::path file, std::string matrix, Invocation& invocation)
    : file_(std::move(file)), matrix_(std::move(matrix)), invocation_(invocation) {
  if (const auto text = invocation_.files.read(file_)) {
    checked_out_ = *text;
    previous_ = read_lockfile(JsonDocument::parse(checked_out_, file_.string()));
  }
  try {
    if (const auto kept = kept_lock(invocation_.files, invocation_.state(), matrix_, checked_out_))
      previous_ = read_lockfile(JsonDocument::parse(*kept, file_.string()));
  } catch (Error& error) {
    invocation_.note(error.while_doing("reading the lockfile of the last night").format("warning"));
  }
}

void NightLockfile::write(const Lockfile& lock) {
  const std::string text = lockfile_text(lock);
  keep_lock(invocation_.files, invocation_.state(), matrix_, checked_out_, text);
  if (text != checked_out_) invocation_.files.write(file_, text);
}

namespace {

// A registry that does not answer is not waited for again with each of its images.
std::function<Digest(const std::string&, const std::string&)> asking_once(
    std::function<Digest(const std::string&, const std::string&)> ask) {
  return [ask = std::move(ask), silent = std::make_shared<std::map<std::string, Error>>()](
             const std::string& reference, const std::string& architecture) {
    const std::string registry = reference.substr(0, reference.find('/'));
    if (auto found = silent->find(registry); found != silent->end()) throw Error(found->second);
    try {
      return ask(reference, architecture);
    } catch (const Error& error) {
      if (error.code() == ExitCode::network) silent->emplace(registry, error);
      throw;
    }
  };
}

}  // namespace

PolicyUpdate update_for_night(const Catalogue& catalogue, const std::optional<Lockfile>& previous,
                              const UpdatePolicy& policy, std::int64_t now, Invocation& invocation) {
  LockAsker asker(invocation);
  LockSources sources = asker.sources();
  sources.now = now;
  sources.digest = asking_once(sources.digest);
  const LockScope scope = invocation.options.locked      ? LockScope::pins_only
                          : catalogue.plan.broken() == 0 ? LockScope::whole
                                                         : LockScope::additions;
  return update_by_policy(lock_needs(catalogue.plan.resolution(), catalogue.recipes),
                          previous ? &*previous : nullptr, scope, policy, sources);
}

}  // namespace kiln
