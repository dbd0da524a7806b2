// kiln publish: built images become rows and tags of the index, in one numbered snapshot.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/cell_options.h"
#include "cli/invocation.h"
#include "image/lock.h"
#include "image/sif_folder.h"

namespace kiln {
namespace {

void run_publish(const CellOptions& options, Invocation& invocation) {
  Catalogue catalogue = invocation.load(options.matrix);
  CellChoice choice = choose_cells(catalogue.plan, options, invocation);
  StatePaths state = invocation.state();
  StateLock lock(state.lock(), invocation.clock, "kiln publish of " + catalogue.plan.name);
  std::vector<ImageRecord> records;
  std::vector<std::string> failed;
  for (const PlannedImage* image : choice.images) {
    fs::path built = state.built(record_name(image->spec));
    auto bytes = invocation.files.read(built);
    if (bytes)
      records.push_back(image_record_from_json(JsonDocument::parse(*bytes, built.string()).root()));
    else
      failed.push_back(image->spec.repository + ":" + image->spec.tag);
  }
  if (records.empty())
    throw Error(ExitCode::no_match, "nothing of '" + catalogue.plan.name + "' is built",
                "run `kiln build` first");
  Index index = invocation.index(Index::Mode::write);
  std::int64_t before = index.current();
  std::int64_t number =
      index.publish(records, failed, rfc3339(invocation.clock.unix_seconds()), catalogue.plan.name);
  show_sifs(state, index);
  if (number == before)
    fmt::print("snapshot {}: nothing new\n", number);
  else
    fmt::print("snapshot {}: {} published, {} not built\n", number, records.size(), failed.size());
}

}  // namespace

CLI::App* add_publish(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<CellOptions>();
  CLI::App* command = app.add_subcommand("publish", "Record the built images in the index, as one snapshot");
  add_cell_options(*command, *options);
  command->footer(
      "kiln publish -f matrix/demo.json\n"
      "kiln publish -f matrix/demo.json framework=pytorch");
  command->callback([options, &invocation] { run_publish(*options, invocation); });
  return command;
}

}  // namespace kiln
