// kiln show: one stage of the data's way as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/lock_use.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/plan/plan_json.h"
#include "factory/render/render.h"
#include "factory/report/explain.h"

namespace kiln {
namespace {

// Flags of processors and compilers that no matrix has to name.
struct FlagQuery {
  std::vector<std::string> cpus;       // archspec's names, globs
  std::vector<std::string> compilers;  // gcc@12.2.0
  std::vector<std::string> accelerators;
  std::string optimise = "none";
};

std::string archspec_of(const Invocation& invocation) {
  auto named = invocation.environment.find("KILN_ARCHSPEC");
  return named == invocation.environment.end() ? KILN_ARCHSPEC_VERSION : named->second;
}

// A remark on some of the variables; they are named where they are few.
struct Remark {
  std::string text;
  std::vector<std::string> variables;
};

void remark(std::vector<Remark>& remarks, const std::string& text, const std::string& variable) {
  auto same = [&](const Remark& other) { return other.text == text; };
  auto found = std::ranges::find_if(remarks, same);
  if (found == remarks.end()) found = remarks.insert(found, {text, {}});
  if (std::ranges::find(found->variables, variable) == found->variables.end())
    found->variables.push_back(variable);
}

// Values stand last: they are long. What is empty is told below the table, and so are notes.
void print(const std::vector<FlagOrigin>& flags) {
  Table table({"VARIABLE", "COMPILER", "TARGET", "READ BY", "FROM", "VALUE"});
  std::vector<Remark> empty;
  std::vector<Remark> notes;
  for (const FlagOrigin& flag : flags) {
    if (!flag.note.empty()) remark(notes, flag.note, flag.variable);
    if (flag.value.empty())
      remark(empty, flag.from, flag.variable);
    else
      table.add({flag.variable, flag.compiler, flag.target, flag.component, flag.from, flag.value});
  }
  if (!table.empty()) print_text(table.text());
  constexpr std::size_t kFew = 2;
  for (const Remark& note : notes)
    say("note{}: {}\n",
        note.variables.size() > kFew ? "" : fmt::format(" on {}", fmt::join(note.variables, ", ")),
        note.text);
  for (const Remark& one : empty) say("empty, because {}: {}\n", one.text, fmt::join(one.variables, ", "));
}

CompilerVersion compiler_from(const std::string& text) {
  std::size_t at = text.find('@');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw Error(ExitCode::usage, fmt::format("expected a compiler and its version, found '{}'", text),
                "for example gcc@12.2.0");
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::string> matching(const std::string& glob, const Microarchitectures& cpus) {
  std::vector<std::string> found;
  for (const std::string& name : cpus.names())
    if (glob_matches(glob, name)) found.push_back(name);
  if (found.empty())
    throw Error(ExitCode::no_match, fmt::format("archspec knows no microarchitecture '{}'", glob),
                hint_for_unknown_cpu(glob, cpus));
  return found;
}

// One processor and one compiler.
struct FlagAnswer {
  Target target;
  CompilerVersion compiler;
  std::variant<std::vector<FlagOrigin>, NoFlags> flags;
};

Json json_of(const FlagAnswer& answer, const FlagQuery& query, Invocation& invocation) {
  Json json = {{"archspec", archspec_of(invocation)},
               {"cpu", answer.target.cpu},
               {"family", invocation.cpus().family(answer.target.cpu)},
               {"accelerators", answer.target.accelerators},
               {"compiler", answer.compiler.name},
               {"version", answer.compiler.version},
               {"optimise", query.optimise}};
  if (auto* none = std::get_if<NoFlags>(&answer.flags)) {
    json["answered"] = nullptr;
    json["note"] = none->reason;
    json["flags"] = Json::array();
    return json;
  }
  const auto& flags = std::get<std::vector<FlagOrigin>>(answer.flags);
  json["answered"] = flags.front().target;
  json["note"] = flags.front().note;
  json["flags"] = json_list(flags);
  return json;
}

void print(const std::vector<FlagAnswer>& answers, const std::string& archspec) {
  if (answers.size() == 1 && std::holds_alternative<std::vector<FlagOrigin>>(answers.front().flags)) {
    say("{} with {} (archspec {})\n", answers.front().target.composition(), answers.front().compiler.text(),
        archspec);
    return print(std::get<std::vector<FlagOrigin>>(answers.front().flags));
  }
  Table table({"CPU", "COMPILER", "TARGET", "KILN_CPU_FLAGS", "NOTE"});
  for (const FlagAnswer& one : answers) {
    if (auto* none = std::get_if<NoFlags>(&one.flags)) {
      table.add({one.target.cpu, one.compiler.text(), "", "", none->reason});
      continue;
    }
    const FlagOrigin& cpu = std::get<std::vector<FlagOrigin>>(one.flags).front();
    table.add({one.target.cpu, one.compiler.text(), cpu.target, cpu.value, cpu.note});
  }
  print_text(table.text());
}

// Prints one table or JSON object for each processor and compiler, all of them in one array. Throws
// Error(usage) for what is no compiler, Error(no_match) for a glob that matches nothing, Error(input).
void show_flags(const FlagQuery& query, bool json, Invocation& invocation) {
  const Microarchitectures& cpus = invocation.cpus();
  const Optimise optimise = parse_optimise(query.optimise, {}, "--optimise");
  TargetBook targets(cpus);
  std::vector<FlagAnswer> answers;
  for (const std::string& compiler : query.compilers) {
    for (const std::string& glob : query.cpus) {
      for (const std::string& cpu : matching(glob, cpus)) {
        std::string name = cpu;
        for (const std::string& accelerator : query.accelerators) name += "," + accelerator;
        FlagAnswer answer{targets.get(name, {}), compiler_from(compiler), {}};
        FlagQuestion question{&answer.target, &cpus, answer.compiler, {}, optimise};
        question.optimise.profile = "/opt/kiln/profile/name";
        answer.flags = all_flags(question);
        answers.push_back(std::move(answer));
      }
    }
  }
  if (!json) return print(answers, archspec_of(invocation));
  print_json(json_list(answers, [&](const FlagAnswer& one) { return json_of(one, query, invocation); }));
}

void show_flags(const Catalogue& catalogue, const ImageNumbers& cells, bool json, Invocation& invocation) {
  Json array = Json::array();
  for (std::uint32_t number : cells) {
    const ImageSpec spec = catalogue.plan.image(number).spec();
    ImageFlags found = flags_of_image(spec, catalogue.recipes, invocation.cpus());
    const std::string name = spec.repository + ":" + spec.tag;
    if (json) {
      array.push_back({{"archspec", archspec_of(invocation)},
                       {"id", spec.request.id},
                       {"image", name},
                       {"target", spec.target.composition()},
                       {"note", found.note},
                       {"flags", json_list(found.flags)}});
      continue;
    }
    say("{} for {} (archspec {})\n", name, spec.target.composition(), archspec_of(invocation));
    if (!found.note.empty()) say("{}\n", found.note);
    print(found.flags);
  }
  if (json) print_json(array);
}

struct ShowOptions : CellOptions {
  std::string stage = "resolve";
  bool flags = false;
  std::string format;
  FlagQuery query;
};

// Each stage runs what is before it, and nothing beyond.
class StagePrinter {
 public:
  StagePrinter(const ShowOptions& options, Invocation& invocation)
      : options_(options),
        invocation_(invocation),
        lock_(find_lockfile(options.matrix, invocation)),
        read_(invocation.read(options.matrix, lock_ ? &*lock_ : nullptr)) {}

  void print() {
    Expansion cells = expand(std::move(read_.matrix), read_.recipes);
    if (options_.stage == "expand") return print_expansion(cells);
    Resolution images = resolve(std::move(cells), invocation_.resolve_input(read_));
    if (options_.stage == "resolve")
      return print_images(images, [](const ImageSpec& spec) { return to_json(spec); });
    const BuildPlan plan = make_plan(std::move(images));
    if (options_.stage == "render") return print_images(plan.resolution(), rendered);
    note(plan.resolution());
    const ChosenCells chosen = choose_whole_cells(plan.resolution(), options_, invocation_);
    print_json(Json::parse(plan_text(plan, chosen)));
  }

 private:
  static Json rendered(const ImageSpec& spec) {
    return {{"id", spec.request.id},
            {"Dockerfile", render_dockerfile(spec)},
            {"Singularity.def", render_singularity(spec)}};
  }

  void note(const Resolution& images) const {
    invocation_.note_cells(images.expansion(), images.size() + images.broken(), images.excluded());
    invocation_.note_faults(faults_beside(images, read_.recipes, read_.targets));
    if (lock_) check_lock(lock_needs(images, read_.recipes), *lock_, options_.matrix, invocation_);
  }

  void print_expansion(const Expansion& cells) const {
    invocation_.note_cells(cells, cells.size(), cells.excluded());
    print_json(json_list(choose_cells(cells, options_, invocation_).images,
                         [&](std::uint32_t cell) { return to_json(cells.request(cell)); }));
  }

  template <typename ToJson>
  void print_images(const Resolution& images, ToJson json_of) const {
    note(images);
    print_json(json_list(choose_whole_cells(images, options_, invocation_).images,
                         [&](std::uint32_t image) { return json_of(images.image(image).spec()); }));
  }

  const ShowOptions& options_;
  Invocation& invocation_;
  std::optional<Lockfile> lock_;
  CatalogueFiles read_;
};

void check(const ShowOptions& options, const std::map<std::string, std::string>& environment) {
  // $KILN_FILE stands for -f wherever a matrix is wanted.
  const bool named = !options.matrix.empty() && value_or(environment, "KILN_FILE") != options.matrix;
  const FlagQuery& query = options.query;
  const bool queries = !query.cpus.empty() || !query.compilers.empty();
  auto usage = [](const char* message, const char* hint) { throw Error(ExitCode::usage, message, hint); };
  if (queries && !options.flags) usage("--cpu and --compiler go with --flags", "");
  if (queries && (query.cpus.empty() || query.compilers.empty()))
    usage("--cpu and --compiler go together", "for example --cpu zen4 --compiler gcc@12.2.0");
  if (queries && named) usage("--cpu and --file exclude each other", "");
  if (!queries && (!query.accelerators.empty() || query.optimise != "none"))
    usage("--accelerator and --optimise go with --cpu", "a matrix states them");
  if (!queries && options.matrix.empty())
    usage("a matrix is missing: -f FILE", options.flags ? "or --cpu NAME --compiler NAME@VERSION" : "");
  if (options.format == "table" && !options.flags) usage("stages are JSON", "only --flags has a table");
}

void run_show(const CLI::App& command, const ShowOptions& options, Invocation& invocation) {
  refuse_together(command, "--stage", "--flags", "--flags prints a separate table");
  check(options, invocation.environment);
  const bool json = options.format == "json";
  if (!options.query.cpus.empty()) return show_flags(options.query, json, invocation);
  if (!options.flags) return StagePrinter(options, invocation).print();
  const Catalogue catalogue = invocation.load(options.matrix);
  const ChosenCells chosen = choose_whole_cells(catalogue.plan.resolution(), options, invocation);
  show_flags(catalogue, chosen.images, json, invocation);
}

}  // namespace

CLI::App* add_show(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command =
      add_below(app, "show", "Print one stage between matrix and text as JSON, or the compiler flags",
                "kiln show -f matrix/demo.json --stage expand\n"
                "kiln show -f matrix/demo.json --flags framework=jax\n"
                "kiln show --flags --cpu zen4 --compiler gcc@12.2.0");
  add_cell_options(*command, *options);
  command->get_option("--file")->required(false);  // --cpu needs none
  add_choice(*command, "--stage", options->stage, {"expand", "resolve", "plan", "render"},
             "expand, resolve, plan or render");
  command->add_flag("--flags", options->flags,
                    "print the compiler flags of each cell and their origin, as a table");
  add_choice(*command, "--format", options->format, {"table", "json"},
             "format of --flags: table (the default) or json");
  FlagQuery& query = options->query;
  add_list(*command, "--cpu", query.cpus, "NAME", "--flags without a matrix: an archspec name, or a glob");
  add_list(*command, "--compiler", query.compilers, "NAME@VERSION",
           "--flags without a matrix: for example gcc@12.2.0");
  add_list(*command, "--accelerator", query.accelerators, "GPU", "with --cpu: for example nvidia:sm_80");
  add_value(*command, "--optimise", query.optimise, "WORDS", "with --cpu: for example o3+lto");
  command->callback([options, command, &invocation] { run_show(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
