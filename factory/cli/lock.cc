// kiln lock: base digests, package archives, source commits and checksums of a plan, fixed in a file.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/lock_use.h"
#include "factory/cli/named_files.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/upstream.h"

namespace kiln {
namespace {

struct LockOptions {
  std::string matrix;
  std::string output;
  std::vector<std::string> update;
  std::string format = "table";
  bool by_policy = false;
  bool upstream = false;
  std::vector<std::string> take;
  bool dry_run = false;
};

// A lockfile has all that the cells need: without a broken cell's needs it would lose what an earlier one
// pins.
void refuse_broken(const BuildPlan& plan) {
  if (plan.broken() == 0) return;
  BrokenCell cell = plan.broken(0);
  throw cell.why.while_doing(fmt::format("planning {} for the lockfile", cell.request.id));
}

PolicyUpdate new_lock(const LockOptions& options, const Catalogue& catalogue,
                      const std::optional<Lockfile>& previous, Invocation& invocation) {
  if (options.by_policy) return update_by_site_policy(catalogue, previous, invocation);
  refuse_broken(catalogue.plan);
  LockAsker asker(invocation);
  const LockNeeds needs = lock_needs(catalogue.plan.resolution(), catalogue.recipes);
  const Lockfile* before = previous ? &*previous : nullptr;
  PolicyUpdate update;
  update.lock = options.update.empty() ? make_lock(needs, before, asker.sources())
                                       : update_lock(needs, *before, options.update, asker.sources());
  update.changes = compare_locks(previous.value_or(Lockfile{}), update.lock);
  return update;
}

Json as_json(const PolicyUpdate& update, bool written) {
  Json problems = json_list(update.problems, [](const LockProblem& problem) {
    return Json{{"id", problem.id}, {"error", problem.why.format()}};
  });
  return {{"file", update.lock.file},
          {"written", written},
          {"entries", update.lock.entries.size()},
          {"changes", json_list(update.changes)},
          {"held", json_list(update.held)},
          {"problems", std::move(problems)}};
}

void print(const LockOptions& options, const PolicyUpdate& update, bool written) {
  if (options.format == "json") return print_json(as_json(update, written));
  for (const LockChange& change : update.changes) say("{}\n", text_of(change));
  for (const HeldChange& change : update.held) say("{}\n", text_of(change));
  const bool lines = !update.changes.empty() || !update.held.empty();
  const char* end = update.changes.empty() ? "nothing changed"
                    : written              ? "written"
                                           : "not written (--dry-run)";
  const std::string held =
      update.held.empty() ? "" : fmt::format("{} held, ", counted(update.held.size(), "change"));
  say("{}{}: {}, {}, {}{}\n", lines ? "\n" : "", update.lock.file,
      counted(update.lock.entries.size(), "entry", "entries"), counted(update.changes.size(), "change"), held,
      end);
}

void note_warnings(const PolicyUpdate& update, Invocation& invocation) {
  for (const auto& [id, entry] : update.lock.entries)
    if (!entry.floating.empty())
      invocation.note(fmt::format("warning: nothing pins {}: {}", id, entry.floating));
  for (LockProblem problem : update.problems)
    invocation.note(problem.why.while_doing(problem.id + " stays as it is").format("warning"));
}

void note_problems(const UpstreamNews& news, Invocation& invocation) {
  for (UpstreamProblem problem : news.problems)
    invocation.note(problem.why.while_doing("asking upstream of " + problem.component).format("warning"));
}

// Newer versions of upstream, for a person to take: nothing is written.
void show_upstream(const LockOptions& options, const Catalogue& catalogue, Invocation& invocation) {
  const int wished = invocation.site().update.proposals;  // 0: a night asks nobody, but a person does
  const int most = wished == 0 ? std::numeric_limits<int>::max() : wished;
  const UpstreamNews news = ask_upstream(catalogue, most, invocation);
  note_problems(news, invocation);
  if (options.format == "json") return print_json(to_json(news));
  for (const Proposal& proposal : news.proposals.shown)
    say("{}\n    {}: {}\n", text_of(proposal), proposal.recipe, line_of(proposal));
  say("{}{}, {} waiting\n", news.proposals.shown.empty() ? "" : "\n",
      counted(news.proposals.shown.size(), "proposal"), news.proposals.waiting.size());
}

// "framework/pytorch@2.16.0".
std::string name_of(const Proposal& proposal) { return proposal.component + "@" + proposal.release.version; }

// Writes proposals into their recipes: the first line of a change that a person makes.
void take_proposals(const LockOptions& options, const Catalogue& catalogue, Invocation& invocation) {
  const UpstreamNews news = ask_upstream(catalogue, std::numeric_limits<int>::max(), invocation);
  note_problems(news, invocation);
  std::vector<std::string> known;
  for (const Proposal& proposal : news.proposals.shown) known.push_back(name_of(proposal));
  for (const std::string& wanted : options.take) {
    const auto found = std::ranges::find(known, wanted);
    if (found == known.end())
      throw Error(ExitCode::no_match, fmt::format("nothing that is proposed is called '{}'", wanted),
                  did_you_mean(wanted, known));
    const Proposal& proposal = news.proposals.shown[static_cast<std::size_t>(found - known.begin())];
    const std::string file = file_of(proposal);
    const std::string text = with_version(invocation.files.read(file).value_or(""), proposal);
    if (!options.dry_run) invocation.files.write(file, text);
    say("{}: {}\n", file, line_of(proposal));
  }
  if (!options.dry_run)
    invocation.note("check its facts and the inputs of its methods; `kiln lint` looks it over");
}

void run_lock(const LockOptions& options, Invocation& invocation) {
  if (invocation.options.offline)
    throw Error(ExitCode::usage, "a lockfile is made with a network, and --offline says there is none",
                "make it where `kiln mirror` fills the mirror, and carry both over");
  refuse_folder(options.output, "--output");
  fs::path file = options.output.empty() ? lockfile_beside(options.matrix) : fs::path(options.output);
  std::optional<Lockfile> previous;
  if (invocation.files.exists(file)) previous = read_lockfile_at(file, invocation.files);
  if (!previous && !options.update.empty())
    throw Error(ExitCode::locked, fmt::format("there is no lockfile {} to update", file.string()),
                fmt::format("kiln lock -f {} makes it", options.matrix));
  const Lockfile* under = options.by_policy && previous ? &*previous : nullptr;
  Catalogue catalogue = invocation.plan(options.matrix, under);
  invocation.note_faults(catalogue.faults);
  if (!options.take.empty()) return take_proposals(options, catalogue, invocation);
  if (options.upstream) return show_upstream(options, catalogue, invocation);
  PolicyUpdate update = new_lock(options, catalogue, previous, invocation);
  update.lock.file = file.string();
  note_warnings(update, invocation);
  std::string text = lockfile_text(update.lock);
  bool write = !options.dry_run && invocation.files.read(file) != text;
  if (write) invocation.files.write(file, text);
  print(options, update, write);
}

}  // namespace

CLI::App* add_lock(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<LockOptions>();
  CLI::App* command = add_below(app, "lock", "Pin base digests, package archives and sources in a lockfile",
                                "kiln lock -f matrix/demo.json\n"
                                "kiln lock -f matrix/demo.json --update debian -n\n"
                                "kiln lock -f matrix/demo.json --by-policy -n\n"
                                "kiln lock -f matrix/demo.json --upstream\n"
                                "kiln build -f matrix/demo.json --locked");
  add_value(*command, "-f,--file", options->matrix, "FILE", "matrix file")->required();
  add_value(*command, "-o,--output", options->output, "LOCK",
            "lockfile to write (default: FILE with .lock.json)");
  add_list(*command, "--update", options->update, "NAME",
           "update only the pins of this component, entry or image; a glob; may be repeated");
  command->add_flag("--by-policy", options->by_policy,
                    "update as a night does: move the pins that \"nightly\" of the site file permits, and "
                    "hold the rest; a pin whose source does not answer stays");
  command->add_flag("--upstream", options->upstream,
                    "print newer upstream versions that the recipes' ranges allow, and write nothing");
  add_list(*command, "--take", options->take, "COMPONENT@VERSION",
           "write this proposed version into its recipe, for you to complete; may be repeated");
  command->add_flag("-n,--dry-run", options->dry_run, "print the changes, and write nothing");
  add_format_option(*command, options->format);
  command->callback([command, options, &invocation] {
    refuse_together(*command, "--by-policy", "--update");
    for (const char* asks : {"--upstream", "--take"})
      for (const char* other : {"--by-policy", "--update", "--output"})
        refuse_together(*command, asks, other);
    refuse_together(*command, "--upstream", "--take");
    run_lock(*options, invocation);
  });
  return command;
}

}  // namespace kiln
