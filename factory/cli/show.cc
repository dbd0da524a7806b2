// kiln show: one stage of the data's way as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/cell_options.h"
#include "cli/invocation.h"
#include "cli/show_flags.h"
#include "cli/usage.h"
#include "plan/render.h"

namespace kiln {
namespace {

struct ShowOptions : CellOptions {
  std::string stage = "resolve";
  bool flags = false;
  std::string format;
  FlagQuery query;
};

Json stage_of(const PlannedImage& image, const std::string& stage) {
  if (stage == "expand") return to_json(image.spec.request);
  if (stage == "resolve") return to_json(image.spec);
  return Json{{"id", image.spec.request.id},
              {"Dockerfile", render_dockerfile(image.spec)},
              {"Singularity.def", render_singularity(image.spec)}};
}

// The plan with these cells and excluded cells, and the steps that they need.
BuildPlan chosen_part(const BuildPlan& plan, const CellChoice& choice) {
  BuildPlan part;
  part.name = plan.name;
  part.warnings = plan.warnings;
  for (const PlannedImage* image : choice.images) {
    part.images.push_back(*image);
    for (const auto* keys : {&image->steps, &image->tests}) {
      part.steps_before_sharing += keys->size();
      for (const std::string& key : *keys) part.steps.try_emplace(key, plan.steps.at(key));
    }
  }
  for (const ExcludedCell* cell : choice.excluded) part.excluded.push_back(*cell);
  return part;
}

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
  Catalogue catalogue = invocation.load(options.matrix);
  CellChoice choice = choose_cells(catalogue.plan, options, invocation);
  if (options.flags) return show_flags(catalogue, choice.images, json, invocation);
  if (options.stage == "plan") {
    fmt::print("{}\n", to_json(chosen_part(catalogue.plan, choice)).dump(2));
    return;
  }
  Json all = Json::array();
  for (const PlannedImage* image : choice.images) all.push_back(stage_of(*image, options.stage));
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

CLI::App* add_show(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand(
      "show", "Print one stage of the way from matrix to text, as JSON, or the compiler flags");
  add_cell_options(*command, *options);
  command->get_option("--file")->required(false);  // --cpu needs none
  command->add_option("--stage", options->stage, "expand, resolve, plan or render")
      ->check(CLI::IsMember({"expand", "resolve", "plan", "render"}))
      ->capture_default_str();
  command->add_flag("--flags", options->flags,
                    "the compiler flags of each cell and where they came from, as a table");
  command->add_option("--format", options->format, "of --flags: table (the default) or json")
      ->check(CLI::IsMember({"table", "json"}));
  FlagQuery& query = options->query;
  command->add_option("--cpu", query.cpus, "--flags without a matrix: archspec's name, or a glob over them")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  command->add_option("--compiler", query.compilers, "--flags without a matrix: such as gcc@12.2.0")
      ->type_name("NAME@VERSION")
      ->expected(1)
      ->take_all();
  command->add_option("--accelerator", query.accelerators, "with --cpu: such as nvidia:sm_80")
      ->type_name("GPU")
      ->expected(1)
      ->take_all();
  command->add_option("--optimise", query.optimise, "with --cpu: such as o3+lto")->type_name("WORDS");
  command->footer(
      "kiln show -f matrix/demo.json --stage expand\n"
      "kiln show -f matrix/demo.json --flags framework=jax\n"
      "kiln show --flags --cpu zen4 --compiler gcc@12.2.0");
  command->callback([options, command, &invocation] { run_show(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
