// kiln plan: what would be built, what is excluded, and why; as text, JSON, a picture, or jobs of a CI
// system.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/cell_options.h"
#include "cli/invocation.h"
#include "cli/plan_rows.h"
#include "cli/plan_text.h"
#include "cli/standing.h"
#include "cli/usage.h"
#include "plan/pipelines.h"
#include "plan/plan_graph.h"

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

std::vector<const PlannedImage*> cells_of_jobs(const std::vector<Standing>& rows, bool all) {
  std::vector<const PlannedImage*> cells;
  for (const Standing& row : rows)
    if (all || row.state != CellState::built) cells.push_back(row.image);
  return cells;
}

void print_github(const std::vector<const PlannedImage*>& cells, const PlanOptions& options,
                  Invocation& invocation) {
  auto chunks = github_matrices(cells, invocation.cpus());
  if (options.chunk > chunks.size())
    throw Error(ExitCode::no_match, fmt::format("there is no chunk {}", options.chunk),
                fmt::format("{} cells are {} chunk{} of at most {}", cells.size(), chunks.size(),
                            chunks.size() == 1 ? "" : "s", kGithubJobs));
  for (std::size_t i = 0; i < chunks.size(); ++i)
    if (options.chunk == 0 || options.chunk == i + 1) fmt::print("{}\n", chunks[i].dump());
}

void print_graph(const PlanGraph& graph, const std::string& format, const Invocation& invocation) {
  std::string text = format == "dot" ? graph_dot(graph) : graph_mermaid(graph);
  if (format == "mermaid" && (graph.edges.size() > kMermaidEdges || text.size() > kMermaidBytes))
    invocation.note(
        fmt::format("warning: {} edges, {} bytes: Mermaid draws at most {} edges and {} bytes by default; "
                    "choose fewer cells, or use --graph dot",
                    graph.edges.size(), text.size(), kMermaidEdges, kMermaidBytes));
  fmt::print("{}", text);
}

void run_plan(const CLI::App& command, const PlanOptions& options, Invocation& invocation) {
  check(command, options);
  if (options.format == "json") return print_plan_document(options, invocation);
  if (options.format == "table" && options.graph.empty() && !options.explain)
    return print_plan_table(options, invocation);
  Catalogue catalogue = invocation.load(options.matrix);
  const BuildPlan& plan = catalogue.plan;
  CellChoice choice = choose_cells(plan, options, invocation);
  StatePaths paths = invocation.state();
  Site site = invocation.site();
  StateView state(plan.name, site, paths, invocation.files);
  std::vector<Standing> rows;
  for (const PlannedImage* image : choice.images) rows.push_back(state.standing(*image));
  if (!options.graph.empty())
    return print_graph(make_graph(plan, choice.images, state.graph_states(rows)), options.graph, invocation);
  if (options.format == "github") return print_github(cells_of_jobs(rows, options.all), options, invocation);
  if (options.format == "gitlab") {
    fmt::print("{}\n", gitlab_pipeline(cells_of_jobs(rows, options.all), {options.matrix}).dump(2));
    return;
  }
  auto cost = [&](const std::string& key) { return state.cost(key); };
  fmt::print("{}", plan_blocks({plan, choice, rows, state, sharing_of(choice.images, cost)}));
}

}  // namespace

CLI::App* add_plan(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command =
      app.add_subcommand("plan", "Show what a matrix asks for, what is built and what is not, and why");
  add_cell_options(*command, *options);
  command
      ->add_option("--format", options->format,
                   "table, json, github (a matrix for Actions: a line for each 256 cells) or gitlab (a child "
                   "pipeline)")
      ->check(CLI::IsMember({"table", "json", "github", "gitlab"}))
      ->capture_default_str();
  command->add_option("--graph", options->graph, "the steps and images as a picture: dot or mermaid")
      ->check(CLI::IsMember({"dot", "mermaid"}));
  command->add_flag("--explain", options->explain, "a block a cell: every reason and every step");
  command->add_flag("--all", options->all, "github, gitlab: jobs for cells that are built, too");
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
