// kiln plan: what would be built, what is excluded, and why; as text, JSON, a picture, or jobs of a CI
// system.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cli/build_images.h"
#include "factory/cli/cell_options.h"
#include "factory/cli/invocation.h"
#include "factory/cli/plan_rows.h"
#include "factory/cli/plan_text.h"
#include "factory/cli/print.h"
#include "factory/cli/usage.h"
#include "factory/report/pipelines.h"
#include "factory/report/plan_graph.h"

namespace kiln {
namespace {

struct PlanOptions : CellOptions {
  std::string format = "table";
  std::string graph;
  bool explain = false;
  bool all = false;
  std::size_t chunk = 0;  // 0: all of them

  bool jobs() const { return format == "github" || format == "gitlab"; }
};

void check(const CLI::App& command, const PlanOptions& options) {
  refuse_together(command, "--graph", "--format", "a graph has a format of its own");
  refuse_together(command, "--graph", "--explain");
  if (options.explain && options.format != "table")
    throw Error(ExitCode::usage, fmt::format("--explain and --format {} do not go together", options.format),
                "--format json holds every reason under 'why'");
  if (options.all && !options.jobs())
    throw Error(ExitCode::usage, "--all goes with --format github or gitlab",
                "other formats print every cell");
  if (options.chunk > 0 && options.format != "github")
    throw Error(ExitCode::usage, "--chunk goes with --format github");
}

JobCells cells_of_jobs(const PlanView& view, bool all) {
  JobCells cells{{}, view.cells.broken};
  for (std::uint32_t image : view.cells.images)
    if (all || !view.state.is_whole(view.plan.image(image))) cells.images.push_back(image);
  return cells;
}

void print_github(const BuildPlan& plan, const JobCells& cells, const PlanOptions& options) {
  auto chunks = github_matrices(plan, cells);
  if (options.chunk > chunks.size())
    throw Error(ExitCode::no_match, fmt::format("there is no chunk {}", options.chunk),
                fmt::format("{} are {} of at most {}", counted(cells.size(), "cell"),
                            counted(chunks.size(), "chunk"), kGithubJobs));
  for (std::size_t i = 0; i < chunks.size(); ++i)
    if (options.chunk == 0 || options.chunk == i + 1) print_json(chunks[i], -1);
}

void print_graph(const PlanGraph& graph, const std::string& format, const Invocation& invocation) {
  std::string text = format == "dot" ? graph_dot(graph) : graph_mermaid(graph);
  if (format == "mermaid" && (graph.edges.size() > kMermaidEdges || text.size() > kMermaidBytes))
    invocation.note(
        fmt::format("warning: {} edges, {} bytes: Mermaid draws at most {} edges and {} bytes by default; "
                    "choose fewer cells, or use --graph dot",
                    graph.edges.size(), text.size(), kMermaidEdges, kMermaidBytes));
  print_text(text);
}

// Jobs of a CI system and a picture have no place for it. A wrong $KILN_JOBS is for `kiln build` to refuse.
std::optional<ExpectedBuild> expected_of(const BuildPlan& plan, const ChosenCells& chosen,
                                         const PlanOptions& options, StateNames& names, const Site& site,
                                         const Invocation& invocation) {
  if (options.jobs() || !options.graph.empty()) return std::nullopt;
  int jobs = 1;
  try {
    jobs = jobs_of(0, site, invocation.environment);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    return std::nullopt;
  }
  return expected_build(plan, chosen.images, names, invocation.state(), invocation.files, jobs);
}

void run_plan(const CLI::App& command, const PlanOptions& options, Invocation& invocation) {
  check(command, options);
  const StatePaths paths = invocation.state();
  StateNames names(paths, invocation.files);
  names.look_ahead();
  const Catalogue catalogue = invocation.load(options.matrix);
  const BuildPlan& plan = catalogue.plan;
  const ChosenCells chosen = choose_cells(plan, options, invocation);
  const Site site = invocation.site();
  const StateView state(plan, site, paths, invocation.files, names);
  const PlanView view{plan, chosen, state, expected_of(plan, chosen, options, names, site, invocation)};
  const ExitCode broken = tell_broken(plan.resolution(), chosen);
  if (!options.jobs()) invocation.exit_code = broken;  // each is a job that fails
  if (!options.graph.empty())
    return print_graph(make_graph(plan, chosen.images, state.graph_states(chosen.images)), options.graph,
                       invocation);
  if (options.explain) {
    print_text(plan_blocks(view));
  } else if (options.format == "json") {
    print_plan_document(view);
  } else if (options.format == "github") {
    print_github(plan, cells_of_jobs(view, options.all), options);
  } else if (options.format == "gitlab") {
    print_json(gitlab_pipeline(plan, cells_of_jobs(view, options.all), {options.matrix}));
  } else {
    print_plan_table(view, options.every_cell());
  }
}

}  // namespace

CLI::App* add_plan(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command =
      app.add_subcommand("plan", "Show the images of a matrix, whether each is built, and why not");
  add_cell_options(*command, *options);
  command
      ->add_option("--format", options->format,
                   "table, json, github (a matrix for Actions: a line for each 256 cells) or gitlab (a child "
                   "pipeline)")
      ->check(CLI::IsMember({"table", "json", "github", "gitlab"}))
      ->capture_default_str();
  command->add_option("--graph", options->graph, "print the steps and images as a graph: dot or mermaid")
      ->check(CLI::IsMember({"dot", "mermaid"}));
  command->add_flag("--explain", options->explain, "print every reason and every step of each cell");
  command->add_flag("--all", options->all, "github, gitlab: also jobs for cells that are built");
  command->add_option("--chunk", options->chunk, "github: this chunk only, counted from 1")
      ->check(CLI::Range(1, 100'000));
  command->footer(
      "kiln plan -f matrix/demo.json\n"
      "kiln plan -f matrix/demo.json --explain compiler=inductor\n"
      "kiln plan -f matrix/demo.json --graph dot framework=pytorch | dot -Tsvg >plan.svg\n"
      "kiln plan -f matrix/demo.json --format gitlab >cells.yml");
  command->callback([options, command, &invocation] { run_plan(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
