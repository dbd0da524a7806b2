// kiln lock: base digests, package archives, source commits and checksums of a plan, fixed in a file.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/lock_use.h"
#include "cli/print.h"
#include "cli/temporary_folder.h"
#include "cli/usage.h"
#include "image/build/archive_state.h"
#include "image/build/commit_history.h"
#include "oci/image_digest.h"
#include "plan/lock_update.h"

namespace kiln {
namespace {

struct LockOptions {
  std::string matrix;
  std::string output;
  std::vector<std::string> update;
  std::string format = "table";
  bool dry_run = false;
};

std::string ask_archive(const LockNeed& need, const std::string& architecture, Invocation& invocation) {
  Site site = invocation.site();
  StatePaths state = invocation.state();
  StepSetup setup = invocation.step_setup(site, state);
  const Step& base = need.base_steps.at(architecture);
  TemporaryFolder folder;
  const fs::path files = folder.path() / "recipe";
  for (const auto& [path, file] : need.component->files)
    invocation.files.write_output(files / path, file.bytes);
  setup.recipe_folders[base.component] = files;
  return archive_state(base, need.method->archive, architecture, setup, folder.path());
}

Lockfile new_lock(const LockOptions& options, const Catalogue& catalogue, const Lockfile* previous,
                  Invocation& invocation) {
  RegistryReader registry(invocation.skopeo());
  TemporaryFolder fetched;
  CommitHistory history(invocation.runner, invocation.child_environment(), fetched.path(),
                        invocation.site().pull_limits);
  LockSources sources{
      [&](const std::string& reference, const std::string& architecture) {
        return registry.digest(reference, architecture);
      },
      [&](const LockNeed& need, const std::string& architecture) {
        return ask_archive(need, architecture, invocation);
      },
      [&](const Recipe& recipe) { return recipe_digest(recipe, invocation.files); },
      invocation.archspec_version(),
      [&](const std::string& url, const std::string& commit) { return history.ref_of(url, commit); }};
  auto needs = lock_needs(catalogue.plan.resolution(), catalogue.recipes);
  if (options.update.empty()) return make_lock(needs, previous, sources);
  return update_lock(needs, *previous, options.update, sources);
}

void print(const LockOptions& options, const Lockfile& lock, const std::vector<LockChange>& changes,
           bool written) {
  if (options.format == "json") {
    Json list = Json::array();
    for (const LockChange& change : changes) list.push_back(to_json(change));
    print_json(Json{{"file", lock.file},
                    {"written", written},
                    {"entries", lock.entries.size()},
                    {"changes", std::move(list)}});
    return;
  }
  for (const LockChange& change : changes) say("{}\n", text_of(change));
  const char* end = changes.empty() ? "nothing changed" : written ? "written" : "not written (--dry-run)";
  say("{}{}: {}, {}, {}\n", changes.empty() ? "" : "\n", lock.file,
      counted(lock.entries.size(), "entry", "entries"), counted(changes.size(), "change"), end);
}

// A lockfile has all that the cells need, or it would let go what an earlier one pins.
void refuse_broken(const BuildPlan& plan) {
  if (plan.broken() == 0) return;
  BrokenCell cell = plan.broken(0);
  throw cell.why.while_doing(fmt::format("planning {} for the lockfile", cell.request.id));
}

void run_lock(const LockOptions& options, Invocation& invocation) {
  fs::path file = options.output.empty() ? lockfile_beside(options.matrix) : fs::path(options.output);
  std::optional<Lockfile> previous;
  if (invocation.files.exists(file)) previous = read_lockfile_at(file, invocation.files);
  if (!previous && !options.update.empty())
    throw Error(ExitCode::locked, fmt::format("there is no lockfile {} to update", file.string()),
                fmt::format("kiln lock -f {} makes it", options.matrix));
  Catalogue catalogue = invocation.plan(options.matrix, nullptr);
  invocation.note_faults(catalogue.faults);
  refuse_broken(catalogue.plan);
  Lockfile lock = new_lock(options, catalogue, previous ? &*previous : nullptr, invocation);
  lock.file = file.string();
  for (const auto& [id, entry] : lock.entries)
    if (!entry.floating.empty())
      invocation.note(fmt::format("warning: nothing pins {}: {}", id, entry.floating));
  auto changes = compare_locks(previous.value_or(Lockfile{}), lock);
  std::string text = lockfile_text(lock);
  bool write = !options.dry_run && invocation.files.read(file) != text;
  if (write) invocation.files.write(file, text);
  print(options, lock, changes, write);
}

}  // namespace

CLI::App* add_lock(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<LockOptions>();
  CLI::App* command =
      app.add_subcommand("lock", "Fix base digests, package archives and sources in a lockfile");
  command->add_option("-f,--file", options->matrix, "matrix file")->required()->type_name("FILE");
  command->add_option("-o,--output", options->output, "lockfile to write (default: FILE with .lock.json)")
      ->type_name("LOCK");
  repeatable(
      command
          ->add_option(
              "--update", options->update,
              "fetch anew what is pinned for this component, entry or image, and nothing else; a glob; "
              "may be repeated")
          ->type_name("NAME"));
  command->add_flag("-n,--dry-run", options->dry_run, "print what would change, write nothing");
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer(
      "kiln lock -f matrix/demo.json\n"
      "kiln lock -f matrix/demo.json --update debian -n\n"
      "kiln build -f matrix/demo.json --locked");
  command->callback([options, &invocation] { run_lock(*options, invocation); });
  return command;
}

}  // namespace kiln
