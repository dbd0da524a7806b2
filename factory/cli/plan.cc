// kiln plan: what would be built, what is excluded, and why; as text, JSON, a picture, or jobs of a CI
// system.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/json_stream.h"
#include "factory/base/text.h"
#include "factory/cli/build_images.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/plan_text.h"
#include "factory/cli/print.h"
#include "factory/plan/plan_json.h"
#include "factory/report/pipelines.h"
#include "factory/report/plan_graph.h"

namespace kiln {
namespace {

// Each one's record is a file to read: of more, --explain and --format json say what they took.
constexpr std::size_t kMostMeasured = 1000;

void print_excluded(const PlanView& view) {
  if (view.cells.excluded.empty()) return;
  Table table({"EXCLUDED", "REASON"});
  for (std::uint32_t number : view.cells.excluded) {
    ExcludedCell cell = view.plan.excluded(number);
    table.add({axes_text(cell.axes), cell.reason});
  }
  say("\n");
  table.print();
}

std::vector<std::string> hex_of(const std::vector<StepTable::Number>& steps, const StepTable& table) {
  std::vector<std::string> keys;
  for (StepTable::Number step : steps) keys.push_back(table.hex(step));
  return keys;
}

Json cell_json(const ResolvedImage& image, const StepTable& table, const ExplainedState& cell) {
  ImageRequest request = image.request();
  return {{"id", std::move(request.id)},
          {"axes", std::move(request.axes)},
          {"repository", image.repository()},
          {"tag", image.tag()},
          {"immutable_tag", image.immutable_tag()},
          {"key", image.key()},
          {"steps", hex_of(image.steps(), table)},
          {"tests", hex_of(image.tests(), table)},
          {"state", name_of(cell.state)},
          {"why", cell.why}};
}

Json step_json(StepTable::Number number, const StepTable& table, NodeState state, const std::string& from) {
  const Step& step = table.pattern(number);
  Json json{{"title", step.title},
            {"kind", name_of(step.kind)},
            {"component", step.component},
            {"parent", table.hex(table.parent(number))},
            {"from", table.hex(table.from(number))},
            {"state", word_for(state)}};
  put(json, "fetched_from", from);
  return json;
}

// Both throw before anything is on stdout. The table of all cells measures what sharing saves only where that
// is quick.
void print_plan_table(const PlanView& view, bool every_cell) {
  Table table({"CELL", "IMAGE", "STATE", "WHY"});
  PlanCounts counts;
  for (std::uint32_t number : view.cells.images) {
    const ResolvedImage image = view.plan.image(number);
    const ExplainedState cell = view.state.explain(image);
    ++counts[cell.state];
    table.add({image.id(), image.reference(), name_of(cell.state), short_reason(cell.why)});
  }
  for (std::uint32_t number : view.cells.broken) {
    const BrokenCell cell = view.plan.broken(number);
    table.add({cell.request.id, "", kBrokenState, cell.why.format("")});
  }
  const Sharing sharing = sharing_of(view, every_cell ? kMostMeasured : SIZE_MAX);
  table.print();
  print_excluded(view);
  say("\n{}", plan_summary(counts, view, sharing));
}

// All that can fail is done before the first byte is written: of half a document nobody sees that it is half.
void print_plan_document(const PlanView& view) {
  const BuildPlan& plan = view.plan;
  std::vector<ExplainedState> explained;
  for (std::uint32_t number : view.cells.images) explained.push_back(view.state.explain(plan.image(number)));
  const Sharing sharing = sharing_of(view);

  JsonStream out(print_bytes);
  out.begin_array("broken");
  for (std::uint32_t number : view.cells.broken) out.item(to_json(plan.broken(number)));
  out.end();
  out.begin_array("cells");
  for (std::size_t index = 0; index < explained.size(); ++index)
    out.item(cell_json(plan.image(view.cells.images[index]), plan.steps(), explained[index]));
  out.end();
  out.begin_array("excluded");
  for (std::uint32_t number : view.cells.excluded) out.item(to_json(plan.excluded(number)));
  out.end();
  if (view.expected)
    out.member("expected", Json{{"error", view.expected->time.error},
                                {"jobs", view.expected->jobs},
                                {"seconds", view.expected->time.seconds},
                                {"steps", view.expected->steps}});
  out.member("name", plan.name());
  out.member("sharing", to_json(sharing));
  out.begin_object("steps");
  for (StepTable::Number step : StepUses(plan, view.cells.images).by_key()) {
    const std::string key = plan.steps().hex(step);
    const NodeState state = view.state.step(key);
    const std::string from = state == NodeState::done ? view.state.fetched_from(key) : "";
    out.item(key, step_json(step, plan.steps(), state, from));
  }
  out.end();
  out.member("warnings", plan.warnings());
  out.finish();
  print_bytes("\n");
}

struct PlanOptions : CellOptions {
  std::string format = "table";
  std::string graph;
  bool explain = false;
  bool all = false;
  std::size_t chunk = 0;  // 0: all of them

  bool jobs() const { return format == "github" || format == "gitlab"; }
};

void check(const CLI::App& command, const PlanOptions& options) {
  refuse_together(command, "--graph", "--format", "a graph has a separate format");
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
      add_below(app, "plan", "Show the images of a matrix, whether each is built, and why not",
                "kiln plan -f matrix/demo.json\n"
                "kiln plan -f matrix/demo.json --explain compiler=inductor\n"
                "kiln plan -f matrix/demo.json --graph dot framework=pytorch | dot -Tsvg >plan.svg\n"
                "kiln plan -f matrix/demo.json --format gitlab >cells.yml");
  add_cell_options(*command, *options);
  add_choice(*command, "--format", options->format, {"table", "json", "github", "gitlab"},
             "table, json, github (a matrix for Actions: a line for each 256 cells) or gitlab (a child "
             "pipeline)");
  add_choice(*command, "--graph", options->graph, {"dot", "mermaid"},
             "print the steps and images as a graph: dot or mermaid");
  command->add_flag("--explain", options->explain, "print every reason and every step of each cell");
  command->add_flag("--all", options->all, "github, gitlab: also jobs for cells that are built");
  add_number(*command, "--chunk", options->chunk, "N", "github: this chunk only, counted from 1", 1, 100'000);
  command->callback([options, command, &invocation] { run_plan(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
