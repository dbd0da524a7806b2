// kiln show: one stage of the data's way as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/cli/cell_options.h"
#include "factory/cli/invocation.h"
#include "factory/cli/lock_use.h"
#include "factory/cli/print.h"
#include "factory/cli/show_flags.h"
#include "factory/cli/usage.h"
#include "factory/plan/plan_json.h"
#include "factory/render/render.h"

namespace kiln {
namespace {

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
    Json all = Json::array();
    for (std::uint32_t cell : choose_cells(cells, options_, invocation_).images)
      all.push_back(to_json(cells.request(cell)));
    print_json(all);
  }

  template <typename ToJson>
  void print_images(const Resolution& images, ToJson json_of) const {
    note(images);
    Json all = Json::array();
    for (std::uint32_t image : choose_whole_cells(images, options_, invocation_).images)
      all.push_back(json_of(images.image(image).spec()));
    print_json(all);
  }

  const ShowOptions& options_;
  Invocation& invocation_;
  std::optional<Lockfile> lock_;
  CatalogueFiles read_;
};

void check(const ShowOptions& options, const std::map<std::string, std::string>& environment) {
  auto standing = environment.find("KILN_FILE");  // for -f, wherever a matrix is wanted
  const bool named =
      !options.matrix.empty() && (standing == environment.end() || standing->second != options.matrix);
  const FlagQuery& query = options.query;
  const bool queries = !query.cpus.empty() || !query.compilers.empty();
  auto usage = [](const char* message, const char* hint) { throw Error(ExitCode::usage, message, hint); };
  if (queries && !options.flags) usage("--cpu and --compiler go with --flags", "");
  if (queries && (query.cpus.empty() || query.compilers.empty()))
    usage("--cpu and --compiler go together", "such as --cpu zen4 --compiler gcc@12.2.0");
  if (queries && named) usage("--cpu and --file exclude each other", "");
  if (!queries && (!query.accelerators.empty() || query.optimise != "none"))
    usage("--accelerator and --optimise go with --cpu", "a matrix says them itself");
  if (!queries && options.matrix.empty())
    usage("a matrix is missing: -f FILE", options.flags ? "or --cpu NAME --compiler NAME@VERSION" : "");
  if (options.format == "table" && !options.flags) usage("stages are JSON", "only --flags has a table");
}

void run_show(const CLI::App& command, const ShowOptions& options, Invocation& invocation) {
  refuse_together(command, "--stage", "--flags", "--flags prints a table of its own");
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
      app.add_subcommand("show", "Print one stage between matrix and text as JSON, or the compiler flags");
  add_cell_options(*command, *options);
  command->get_option("--file")->required(false);  // --cpu needs none
  command->add_option("--stage", options->stage, "expand, resolve, plan or render")
      ->check(CLI::IsMember({"expand", "resolve", "plan", "render"}))
      ->capture_default_str();
  command->add_flag("--flags", options->flags,
                    "print the compiler flags of each cell and their origin, as a table");
  command->add_option("--format", options->format, "format of --flags: table (the default) or json")
      ->check(CLI::IsMember({"table", "json"}));
  FlagQuery& query = options->query;
  repeatable(command->add_option("--cpu", query.cpus, "--flags without a matrix: an archspec name, or a glob")
                 ->type_name("NAME"));
  repeatable(
      command->add_option("--compiler", query.compilers, "--flags without a matrix: such as gcc@12.2.0")
          ->type_name("NAME@VERSION"));
  repeatable(command->add_option("--accelerator", query.accelerators, "with --cpu: such as nvidia:sm_80")
                 ->type_name("GPU"));
  command->add_option("--optimise", query.optimise, "with --cpu: such as o3+lto")->type_name("WORDS");
  command->footer(
      "kiln show -f matrix/demo.json --stage expand\n"
      "kiln show -f matrix/demo.json --flags framework=jax\n"
      "kiln show --flags --cpu zen4 --compiler gcc@12.2.0");
  command->callback([options, command, &invocation] { run_show(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
