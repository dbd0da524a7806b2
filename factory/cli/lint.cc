// kiln lint: what is known to go wrong in recipes, matrices, Dockerfiles and definition files.
#include "factory/lint/lint.h"

#include <fmt/format.h>

#include <cstdio>

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/lock_use.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/lint/output.h"
#include "factory/lint/recipe_source.h"

namespace kiln {
namespace {

constexpr int kMostRounds = 5;  // of --fix: a mended line can show the next finding

struct LintOptions {
  std::vector<std::string> paths;
  std::vector<std::string> matrices;
  std::string format = "text";
  std::string severity = "warning";
  std::vector<std::string> only;
  std::vector<std::string> ignore;
  std::string explain;
  bool list = false;
  bool facts = false;
  bool fix = false;
  bool dry_run = false;
};

std::vector<std::string> ids_of(const std::vector<std::string>& words) {
  std::vector<std::string> ids;
  for (const std::string& word : words) ids.push_back(lint::known_rule(word).id);
  return ids;
}

void print_rules(const std::string& format) {
  if (format == "markdown") return print_text(lint::rules_as_markdown());
  if (format == "json") return print_document(lint::rules_as_json());
  Table table({"RULE", "NAME", "SEVERITY", "FIX", "WHAT"});
  for (const lint::Rule& rule : lint::rules())
    table.add(
        {rule.id, rule.name, std::string(name_of(rule.severity)), rule.fixable ? "--fix" : "", rule.summary});
  print_text(table.text());
}

fs::path cache_file(const std::map<std::string, std::string>& environment) {
  const std::string home = value_or(environment, "HOME");
  fs::path base = value_or(environment, "XDG_CACHE_HOME");
  if (base.empty() && !home.empty()) base = fs::path(home) / ".cache";
  return base.empty() ? base : base / "kiln" / "shellcheck.json";
}

// The recipes that a plan is made of.
std::vector<fs::path> recipes_of(const Catalogue& catalogue) {
  const StepTable& steps = catalogue.plan.steps();
  std::set<std::string> used;
  for (StepTable::Number step : StepUses(catalogue.plan, all_images(catalogue.plan)).steps())
    used.insert(steps.pattern(step).component);
  std::vector<fs::path> files;
  for (const auto& [key, component] : catalogue.recipes.all())
    if (used.contains(fmt::format("{}/{}", name_of(component.kind), component.name)))
      files.emplace_back(component.file);
  return files;
}

class Run {
 public:
  Run(const LintOptions& options, Invocation& invocation) : options_(options), invocation_(invocation) {}

  std::vector<fs::path> recipe_files() const {
    std::vector<fs::path> files;
    for (const fs::path& path : paths()) {
      const std::vector<fs::path> below = lint::recipes_below(path, invocation_.files);
      files.insert(files.end(), below.begin(), below.end());
    }
    return files;
  }

  lint::LintResult lint_all() {
    const std::vector<std::string>& roots = invocation_.options.recipes;
    lint::Linter linter(invocation_.files, {ids_of(options_.only), ids_of(options_.ignore)},
                        {roots.begin(), roots.end()});
    std::vector<fs::path> matrices(options_.matrices.begin(), options_.matrices.end());
    for (const fs::path& path : paths())
      for (fs::path& matrix : linter.look_at(path)) matrices.push_back(std::move(matrix));
    for (const fs::path& matrix : matrices) lint_matrix(linter, matrix);
    if (options_.paths.empty()) look_at_site_in_use(linter);
    return linter.finish(
        {&invocation_.runner, invocation_.child_environment(), cache_file(invocation_.environment)});
  }

 private:
  bool only_matrices() const { return options_.paths.empty() && !options_.matrices.empty(); }

  // Errors of what its cells need; of all its recipes, where it is not alone.
  std::vector<Error> faults_of(const Catalogue& catalogue) const {
    std::vector<Error> faults;
    for (std::size_t number = 0; number < catalogue.plan.broken(); ++number)
      faults.push_back(catalogue.plan.broken(number).why);
    if (only_matrices())
      invocation_.note_faults(catalogue.faults);
    else
      faults.insert(faults.end(), catalogue.faults.begin(), catalogue.faults.end());
    return faults;
  }

  // What is named, or else what a catalogue's folder has.
  std::vector<fs::path> paths() const {
    if (!options_.paths.empty()) return {options_.paths.begin(), options_.paths.end()};
    if (only_matrices()) return {};
    std::vector<fs::path> found(invocation_.options.recipes.begin(), invocation_.options.recipes.end());
    if (found.empty() && invocation_.files.is_directory("recipes")) found.emplace_back("recipes");
    if (invocation_.files.is_directory("matrix")) found.emplace_back("matrix");
    if (found.empty())
      throw Error(ExitCode::usage, "there is nothing to look at: no folder 'recipes' or 'matrix' here",
                  "name files or folders");
    return found;
  }

  void look_at_site_in_use(lint::Linter& linter) {
    try {
      if (const Site site = invocation_.site(); !site.file.empty()) linter.look_at(site.file);
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) throw;
      linter.cannot_read(error);
    }
  }

  void lint_matrix(lint::Linter& linter, const fs::path& matrix) {
    try {
      invocation_.with_derived = false;  // what lies in a state folder is not under review
      const Catalogue catalogue = invocation_.load_untold(matrix.string());
      const std::optional<Lockfile> lock = find_lockfile(matrix, invocation_);
      linter.look_at(
          lint::CellInput{catalogue.plan, catalogue.recipes, invocation_.cpus(), lock ? &*lock : nullptr});
      for (const Error& error : faults_of(catalogue)) linter.cannot_read(error);
      if (only_matrices())
        for (const fs::path& recipe : recipes_of(catalogue)) linter.look_at(recipe);
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) throw;
      linter.cannot_read(error);
    }
  }

  const LintOptions& options_;
  Invocation& invocation_;
};

void write_fixed(const lint::FixedFile& file, Invocation& invocation) {
  const fs::perms mode = fs::status(file.path).permissions();
  invocation.files.write(file.path, file.after);
  fs::permissions(file.path, mode);
  invocation.note(fmt::format("{}: {} mended", file.path, file.fixes));
}

// Mends and looks again, until nothing is left that can be mended.
lint::LintResult mend(lint::LintResult result, Run& run, lint::Severity least, Invocation& invocation) {
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<lint::FixedFile> fixed = lint::fix(result, least);
    if (fixed.empty()) break;
    for (const lint::FixedFile& file : fixed) write_fixed(file, invocation);
    result = run.lint_all();
  }
  return result;
}

void print_summary(const lint::LintResult& result, lint::Severity least, Invocation& invocation) {
  for (const std::string& note : result.notes) invocation.note("note: " + note);
  std::map<lint::Severity, std::size_t> counts;
  for (const lint::Finding& finding : result.findings)
    if (!finding.suppressed) ++counts[finding.severity];
  auto hidden = result.count(lint::Severity::note) - result.count(least);
  std::string unread = result.unreadable.empty() ? ""
                                                 : fmt::format("; {} could not be read",
                                                               counted(result.unreadable.size(), "place"));
  invocation.note(fmt::format(
      "{}: {}, {}, {}{}{}", counted(result.files, "file"), counted(counts[lint::Severity::error], "error"),
      counted(counts[lint::Severity::warning], "warning"), counted(counts[lint::Severity::note], "note"),
      hidden > 0 ? " (--severity note shows all)" : "", unread));
}

void print(const lint::LintResult& result, const LintOptions& options, lint::Severity least,
           Invocation& invocation) {
  if (options.format == "json") {
    print_document(lint::to_json_text(result, least));
  } else if (options.format == "sarif") {
    print_document(lint::to_sarif(result, least, KILN_VERSION));
  } else {
    print_text(lint::to_text(result, least));
    std::fflush(stdout);
  }
  for (const Error& error : result.unreadable) tell(error.format());
  print_summary(result, least, invocation);
}

void print_facts(const LintOptions& options, Invocation& invocation) {
  if (options.format == "sarif")
    throw Error(ExitCode::usage, "facts are no findings", "text, json or markdown");
  const std::vector<std::string>& roots = invocation.options.recipes;
  const auto facts = lint::facts_of_recipes(Run(options, invocation).recipe_files(), invocation.files,
                                            {roots.begin(), roots.end()});
  if (options.format == "markdown") return print_text(lint::facts_as_markdown(facts));
  if (options.format == "json") return print_document(lint::facts_as_json(facts));
  Table table({"RECIPE", "VERSION/FACT", "FACTS", "KNOWN", "FROM"});
  for (const lint::FactLine& line : lint::fact_lines(facts))
    table.add({line.component, line.what, std::to_string(line.facts), line.known, line.from});
  print_text(table.text());
  invocation.note(lint::facts_in_short(facts));
}

void run_lint(const LintOptions& options, Invocation& invocation) {
  if (!options.explain.empty()) return print_text(lint::explain(lint::known_rule(options.explain)));
  if (options.list) return print_rules(options.format);
  if (options.facts) return print_facts(options, invocation);
  if (options.format == "markdown")
    throw Error(ExitCode::usage, "--format markdown is for --list and --facts", "text, json or sarif");
  const lint::Severity least = *lint::severity_from(options.severity);
  Run run(options, invocation);
  lint::LintResult result = run.lint_all();
  if (options.fix && options.dry_run) {
    for (const lint::FixedFile& file : lint::fix(result, least))
      print_text(lint::unified_diff(file.path, file.before, file.after));
    print_summary(result, least, invocation);
  } else {
    if (options.fix) result = mend(std::move(result), run, least, invocation);
    print(result, options, least, invocation);
  }
  if (!result.unreadable.empty())
    invocation.exit_code = ExitCode::input;
  else if (result.count(least) > 0)
    invocation.exit_code = ExitCode::images_failed;
}

}  // namespace

CLI::App* add_lint(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<LintOptions>();
  CLI::App* command =
      add_below(app, "lint", "Find known mistakes in recipes, matrices, Dockerfiles and definition files",
                "kiln lint\n"
                "kiln lint recipes/library/blis --fix --dry-run\n"
                "kiln lint -f matrix/demo.json --format sarif >lint.sarif\n"
                "kiln lint --explain KL012\n"
                "\n"
                "Exit code 0: no findings; 1: findings; 3: a file could not be read.\n"
                "A comment allows one finding: # kiln-lint: ignore KL012 reason");
  add_value(*command, "paths", options->paths, "FILE|DIR",
            "files or folders (default: the folders recipes and matrix, and the site file in use)");
  add_list(*command, "-f,--file", options->matrices, "FILE",
           "matrix whose cells to check, with the recipes that they use");
  add_choice(*command, "--format", options->format, {"text", "json", "sarif", "markdown"},
             "text, json or sarif; for --list and --facts: text, json or markdown");
  add_choice(*command, "--severity", options->severity, {"error", "warning", "note"},
             "lowest severity that is shown and fails: error, warning or note");
  add_list(*command, "--rule", options->only, "ID", "check only this rule, by id or name; may be repeated");
  add_list(*command, "--ignore", options->ignore, "ID", "skip this rule; may be repeated");
  add_value(*command, "--explain", options->explain, "ID", "explain a rule, with a bad and a good example");
  command->add_flag("--list", options->list, "list the rules");
  command->add_flag("--facts", options->facts, "list the facts of the recipes, with their sources");
  command->add_flag("--fix", options->fix, "fix the findings that have an automatic fix");
  command
      ->add_flag("-n,--dry-run", options->dry_run,
                 "with --fix: print the changes as a diff, and change nothing")
      ->needs("--fix");
  command->callback([options, &invocation] { run_lint(*options, invocation); });
  return command;
}

}  // namespace kiln
