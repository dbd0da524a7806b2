// kiln plan: what would be built, what is excluded, and why.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/invocation.h"
#include "cli/table.h"

namespace kiln {
namespace {

struct Options {
  std::string matrix;
  std::vector<std::string> cells;
  std::string format = "table";
  bool explain = false;
};

std::optional<BuildPlan> last_plan(const StatePaths& state, const std::string& name,
                                   const FileSystem& files) {
  auto bytes = files.read(state.plan(name));
  if (!bytes) return std::nullopt;
  JsonLimits limits{256u << 20, 64, 1u << 20, 20'000'000};
  return plan_from_json(JsonDocument::parse(*bytes, state.plan(name).string(), limits));
}

// Where an image stands: `why` is empty when it is built.
struct Standing {
  const PlannedImage* image;
  std::string state;  // "built", "to build", or "to re-tag": its bits are there, its name or labels are new
  std::vector<std::string> why;
};

// The first step or test without a record, "" when all are there.
std::string first_missing(const PlannedImage& image, const BuildPlan& plan, const StatePaths& state,
                          const FileSystem& files) {
  auto missing = [&](const std::vector<std::string>& keys, bool tests) -> std::string {
    for (const std::string& key : keys) {
      if (files.exists(tests ? state.test(key) : state.step(key))) continue;
      bool failed = files.exists(state.failure(key));
      return plan.steps.at(key).title + (failed ? ": failed last time" : ": not run yet");
    }
    return "";
  };
  std::string step = missing(image.steps, false);
  return step.empty() ? missing(image.tests, true) : step;
}

// Changed inputs are the reason; without any, what an interrupted or failed run left to do.
Standing standing_of(const PlannedImage& image, const BuildPlan& plan, const BuildPlan* previous,
                     const StatePaths& state, const FileSystem& files) {
  if (is_built(image, state, files)) return {&image, "built", {}};
  std::string missing = first_missing(image, plan, state, files);
  if (missing.empty()) return {&image, "to re-tag", {"new name or labels: nothing is built"}};
  auto changed = explain_image(image, plan, previous);
  if (changed.empty()) changed = {missing};
  return {&image, "to build", changed};
}

std::string short_reason(const std::vector<std::string>& why) {
  if (why.empty()) return "";
  return why.size() == 1 ? why.front() : fmt::format("{} (+{} more)", why.front(), why.size() - 1);
}

void print_excluded(const BuildPlan& plan) {
  if (plan.excluded.empty()) return;
  Table excluded({"EXCLUDED", "REASON"});
  for (const ExcludedCell& cell : plan.excluded) {
    std::string axes;
    for (const auto& [axis, value] : cell.axes)
      axes += fmt::format("{}{}={}", axes.empty() ? "" : " ", axis, value);
    excluded.add({axes, cell.reason});
  }
  fmt::print("\n{}", excluded.text());
}

void print_table(const BuildPlan& plan, const std::vector<Standing>& rows, const Options& options) {
  Table table({"CELL", "IMAGE", "STATE", "WHY"});
  std::size_t to_build = 0;
  for (const Standing& row : rows) {
    if (row.state == "to build") ++to_build;
    const ImageSpec& spec = row.image->spec;
    table.add({spec.request.id, spec.repository + ":" + spec.tag, row.state,
               options.explain ? "" : short_reason(row.why)});
    if (!options.explain) continue;
    for (const std::string& line : row.why) table.add({"", "", "", line});
  }
  fmt::print("{}", table.text());
  print_excluded(plan);
  fmt::print("\n{} images, {} to build, {} excluded; {} steps, {} without sharing\n", rows.size(), to_build,
             plan.excluded.size(), plan.steps.size(), plan.steps_before_sharing);
}

void print_json(const BuildPlan& plan, const std::vector<Standing>& rows) {
  std::map<std::string, const Standing*> by_id;
  for (const Standing& row : rows) by_id[row.image->spec.request.id] = &row;
  Json json = to_json(plan);
  Json cells = Json::array();
  for (Json& cell : json["cells"]) {
    auto row = by_id.find(cell["id"].get<std::string>());
    if (row == by_id.end()) continue;
    cell["state"] = row->second->state;
    cell["why"] = row->second->why;
    cells.push_back(std::move(cell));
  }
  json["cells"] = std::move(cells);
  fmt::print("{}\n", json.dump(2));
}

void run(const Options& options, Invocation& invocation) {
  Catalogue catalogue = invocation.load(options.matrix);
  StatePaths state = invocation.state();
  auto previous = last_plan(state, catalogue.plan.name, invocation.files);
  auto ids = choose_cells(catalogue.plan, options.cells);
  std::set<std::string> chosen(ids.begin(), ids.end());
  std::vector<Standing> rows;
  for (const PlannedImage& image : catalogue.plan.images)
    if (chosen.contains(image.spec.request.id))
      rows.push_back(
          standing_of(image, catalogue.plan, previous ? &*previous : nullptr, state, invocation.files));
  if (options.format == "table")
    print_table(catalogue.plan, rows, options);
  else
    print_json(catalogue.plan, rows);
}

}  // namespace

CLI::App* add_plan(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("plan", "Show what a matrix asks for, what is built and what is not, and why");
  command->add_option("-f,--file", options->matrix, "matrix file")->required()->type_name("FILE");
  command->add_option("cells", options->cells,
                      "cell patterns, one of which must match: a glob over the id, or axis=value");
  command->add_option("--format", options->format, "table or json")->check(CLI::IsMember({"table", "json"}));
  command->add_flag("--explain", options->explain, "every reason for each image, a line each");
  command->callback([options, &invocation] { run(*options, invocation); });
  return command;
}

}  // namespace kiln
