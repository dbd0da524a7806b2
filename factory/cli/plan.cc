// kiln plan: what would be built, what is excluded, and why.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

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

// Why an image is not built yet: changed inputs, else the first step without a record.
std::vector<std::string> reasons(const PlannedImage& image, const BuildPlan& plan, const BuildPlan* previous,
                                 const StatePaths& state, const FileSystem& files) {
  auto changed = explain_image(image, plan, previous);
  if (!changed.empty()) return changed;
  auto missing = [&](const std::vector<std::string>& keys, bool tests) -> std::vector<std::string> {
    for (const std::string& key : keys) {
      if (files.exists(tests ? state.test(key) : state.step(key))) continue;
      bool failed = files.exists(state.failure(key));
      return {plan.steps.at(key).title + (failed ? ": failed last time" : ": not run yet")};
    }
    return {};
  };
  if (auto why = missing(image.steps, false); !why.empty()) return why;
  if (auto why = missing(image.tests, true); !why.empty()) return why;
  return {"new name or labels: packaged again, nothing is built"};
}

std::string short_reason(const std::vector<std::string>& why) {
  if (why.empty()) return "";
  return why.size() == 1 ? why.front() : fmt::format("{} (+{} more)", why.front(), why.size() - 1);
}

void print_table(const BuildPlan& plan,
                 const std::vector<std::pair<const PlannedImage*, std::vector<std::string>>>& rows,
                 const Options& options) {
  Table table({"CELL", "IMAGE", "STATE", "WHY"});
  std::size_t to_build = 0;
  for (const auto& [image, why] : rows) {
    if (!why.empty()) ++to_build;
    table.add({image->spec.request.id, image->spec.repository + ":" + image->spec.tag,
               why.empty() ? "built" : "to build", options.explain ? "" : short_reason(why)});
    if (!options.explain) continue;
    for (const std::string& line : why) table.add({"", "", "", line});
  }
  fmt::print("{}", table.text());
  if (!plan.excluded.empty()) {
    Table excluded({"EXCLUDED", "REASON"});
    for (const ExcludedCell& cell : plan.excluded) {
      std::string axes;
      for (const auto& [axis, value] : cell.axes)
        axes += fmt::format("{}{}={}", axes.empty() ? "" : " ", axis, value);
      excluded.add({axes, cell.reason});
    }
    fmt::print("\n{}", excluded.text());
  }
  fmt::print("\n{} images, {} to build, {} excluded; {} steps, {} without sharing\n", rows.size(), to_build,
             plan.excluded.size(), plan.steps.size(), plan.steps_before_sharing);
}

void run(const Options& options, Invocation& invocation) {
  Catalogue catalogue = invocation.load(options.matrix);
  StatePaths state = invocation.state();
  auto previous = last_plan(state, catalogue.plan.name, invocation.files);
  auto ids = choose_cells(catalogue.plan, options.cells);
  std::vector<std::pair<const PlannedImage*, std::vector<std::string>>> rows;
  std::map<std::string, std::vector<std::string>> why_by_id;
  for (const PlannedImage& image : catalogue.plan.images) {
    const std::string& id = image.spec.request.id;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) continue;
    std::vector<std::string> why;
    if (!is_built(image, state, invocation.files))
      why = reasons(image, catalogue.plan, previous ? &*previous : nullptr, state, invocation.files);
    why_by_id[id] = why;
    rows.emplace_back(&image, why);
  }
  if (options.format == "table") return print_table(catalogue.plan, rows, options);
  Json json = to_json(catalogue.plan);
  Json cells = Json::array();
  for (Json& cell : json["cells"]) {
    auto why = why_by_id.find(cell["id"].get<std::string>());
    if (why == why_by_id.end()) continue;
    cell["state"] = why->second.empty() ? "built" : "to build";
    cell["why"] = why->second;
    cells.push_back(cell);
  }
  json["cells"] = cells;
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

CLI::App* add_plan(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("plan", "Show what a matrix asks for, what is built and what is not, and why");
  command->add_option("-f,--file", options->matrix, "matrix file")->required()->type_name("FILE");
  command->add_option("cells", options->cells, "cell patterns: a glob over the id, or axis=value");
  command->add_option("--format", options->format, "table or json")->check(CLI::IsMember({"table", "json"}));
  command->add_flag("--explain", options->explain, "every reason for each image, a line each");
  command->callback([options, &invocation] { run(*options, invocation); });
  return command;
}

}  // namespace kiln
