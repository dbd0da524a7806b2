// kiln bench: measures a workload in published images and records the figures in the index.
#include "image/build/bench.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/cell_options.h"
#include "cli/invocation.h"
#include "cli/print.h"
#include "cli/state_lock.h"
#include "cli/table.h"
#include "cli/temporary_folder.h"
#include "registry/host.h"

namespace kiln {
namespace {

struct BenchOptions : CellOptions {
  std::string workload;
  std::string format = "table";
  bool again = false;
};

// The latest on this host.
const Measurement* known(const IndexEntry& entry, const std::string& workload, const HostDescription& host) {
  const Measurement* latest = nullptr;
  for (const Measurement& measurement : entry.measurements)
    if (measurement.workload == workload && measurement.host.model == host.model &&
        measurement.host.cores == host.cores)
      latest = &measurement;
  return latest;
}

const Recipe& find_workload(const RecipeBook& recipes, const std::string& name) {
  const Recipe* workload = recipes.find(Kind::workload, name);
  if (workload == nullptr)
    throw Error(ExitCode::usage, "there is no workload '" + name + "'",
                did_you_mean(name, recipes.names(Kind::workload)));
  return *workload;
}

struct Row {
  std::string image;
  Measurement measurement;
  bool fresh;
};

void print_rows(const std::vector<Row>& rows, const std::string& format) {
  if (format == "json") {
    Json all = Json::array();
    for (const Row& row : rows) {
      Json item = to_json(row.measurement);
      item["name"] = row.image;
      item["measured_now"] = row.fresh;
      item["doubtful"] = doubt_about(row.measurement);
      all.push_back(item);
    }
    print_json(all);
    return;
  }
  Table table({"IMAGE", "MEDIAN", "QUARTILES", "UNIT", "SAMPLES", "MEASURED", "DOUBTFUL"});
  for (const Row& row : rows)
    table.add({row.image, fmt::format("{:.1f}", row.measurement.median),
               fmt::format("{:.1f} to {:.1f}", row.measurement.low, row.measurement.high),
               row.measurement.unit, std::to_string(row.measurement.samples),
               row.fresh ? "now" : row.measurement.taken, doubt_about(row.measurement)});
  print_text(table.text());
}

void run_bench(const BenchOptions& options, Invocation& invocation) {
  invocation.need_root_or_namespace();
  Catalogue catalogue = invocation.load(options.matrix);
  ChosenCells chosen = choose_whole_cells(catalogue.plan.resolution(), options, invocation);
  Recipe workload = find_workload(catalogue.recipes, options.workload);
  TemporaryFolder folder;  // of the workload's files, shared ones among them
  for (const auto& [path, file] : workload.files)
    invocation.files.write_output(folder.path() / path, file.bytes);
  workload.folder = folder.path();
  StatePaths state = invocation.state();
  Site site = invocation.site();
  const StateLock lock = lock_state(invocation, "kiln bench of " + catalogue.plan.name());
  Index index = invocation.index(Index::Mode::write);
  HostDescription host = detect_host(invocation.files, invocation.cpus());
  host.features.clear();  // a hundred words beside each measurement, which compares by model and name
  StepSetup setup = invocation.step_setup(site, state);
  std::map<std::string, IndexEntry> published;  // by the bits, which several names may have
  for (IndexEntry& entry : index.entries()) published.emplace(entry.image.key, std::move(entry));
  std::map<std::string, Measurement> measured_now;  // by the bits
  std::vector<Row> rows;
  for (std::uint32_t number : chosen.images) {
    const ImageSpec image = catalogue.plan.image(number).spec();
    std::string name = image.repository + ":" + image.tag;
    auto entry = published.find(image.key);
    if (entry == published.end())
      throw Error(ExitCode::no_match, name + " is not in the index",
                  "run `kiln build` and `kiln publish` first");
    const Measurement* before = known(entry->second, workload.name, host);
    if (auto now = measured_now.find(image.key); now != measured_now.end()) {
      rows.push_back({name, now->second, true});
    } else if (before != nullptr && !options.again) {
      rows.push_back({name, *before, false});
    } else {
      invocation.note("bench  " + workload.name + " in " + name);
      Measurement measurement = measure(
          {image, entry->second.image.manifest, workload, workload.methods.front().name, host}, setup);
      index.record(measurement);
      measured_now.emplace(image.key, measurement);
      rows.push_back({name, measurement, true});
    }
  }
  print_rows(rows, options.format);
}

}  // namespace

CLI::App* add_bench(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "Measure a workload in published images, one after the other");
  add_cell_options(*command, *options);
  command->add_option("--workload", options->workload, "workload component of the recipes")
      ->required()
      ->type_name("WORKLOAD");
  command->add_flag("--again", options->again, "measure anew what was measured on this host before");
  add_wait_option(*command, invocation.options);
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer("kiln bench -f matrix/demo.json framework=pytorch --workload mnist-cnn");
  command->callback([options, &invocation] { run_bench(*options, invocation); });
  return command;
}

}  // namespace kiln
