// kiln publish: built images become rows and tags of the index, in one numbered snapshot.
#include "image/build/publish.h"

#include <fmt/format.h>

#include "cli/cell_options.h"
#include "cli/invocation.h"
#include "cli/state_lock.h"

namespace kiln {
namespace {

void run_publish(const CellOptions& options, Invocation& invocation) {
  Catalogue catalogue = invocation.load(options.matrix);
  ChosenCells chosen = choose_cells(catalogue.plan, options, invocation);
  StatePaths state = invocation.state();
  const StateLock lock = lock_state(invocation, "kiln publish of " + catalogue.plan.name());
  Published done = publish_built(catalogue.plan, chosen.images, state, invocation.files, invocation.clock);
  if (done.is_new)
    fmt::print("snapshot {}: {} published, {} not built\n", done.snapshot, done.images, done.not_built);
  else
    fmt::print("snapshot {}: nothing new\n", done.snapshot);
}

}  // namespace

CLI::App* add_publish(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<CellOptions>();
  CLI::App* command = app.add_subcommand("publish", "Record the built images in the index, as one snapshot");
  add_cell_options(*command, *options);
  add_wait_option(*command, invocation.options);
  command->footer(
      "kiln publish -f matrix/demo.json\n"
      "kiln publish -f matrix/demo.json framework=pytorch");
  command->callback([options, &invocation] { run_publish(*options, invocation); });
  return command;
}

}  // namespace kiln
