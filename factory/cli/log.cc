// kiln log: what was printed when a cell was built the last time.
#include <fmt/format.h>

#include <limits>

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/run/cell_logs.h"
#include "factory/state/plan_file.h"

namespace kiln {
namespace {

struct LogOptions : CellOptions {
  std::string step;
  bool list = false;
};

// A cell of the last build, whatever the recipes have become since.
struct BuiltCell {
  std::string id;
  std::vector<CellLog> logs;
};

std::vector<BuiltCell> built_cells(const LogOptions& options, Invocation& invocation) {
  const Catalogue catalogue = invocation.load(options.matrix);
  const ChosenCells chosen = choose_cells(catalogue.plan, options, invocation);
  const StatePaths state = invocation.state();
  auto last = PlanFile::open(invocation.files, state.plan(catalogue.plan.name()));
  std::vector<BuiltCell> cells;
  for (std::uint32_t number : chosen.images) {
    const std::string id = catalogue.plan.image(number).id();
    auto image = last ? last->image(id) : std::nullopt;
    if (!image) continue;
    cells.push_back({id, cell_logs(*image, state, invocation.files)});
    if (cells.back().logs.empty()) cells.pop_back();
  }
  if (cells.empty())
    throw Error(ExitCode::no_match, fmt::format("nothing of that was built in {}", state.root().string()),
                "run `kiln build` first, or name the state folder with --state");
  return cells;
}

// S is the beginning of a key, or a glob over titles.
void keep_step(const std::string& wanted, std::vector<BuiltCell>& cells) {
  std::vector<std::string> titles;
  for (BuiltCell& cell : cells)
    std::erase_if(cell.logs, [&](const CellLog& log) {
      titles.push_back(log.title);
      return !log.key.starts_with(wanted) && !glob_matches(wanted, log.title);
    });
  std::erase_if(cells, [](const BuiltCell& cell) { return cell.logs.empty(); });
  if (!cells.empty()) return;
  std::string near = did_you_mean(wanted, titles);
  throw Error(ExitCode::no_match, fmt::format("no step '{}' has a log", wanted),
              near.empty() ? "--list shows the steps that have" : near);
}

void print_list(const std::vector<BuiltCell>& cells) {
  Table table({"CELL", "STEP", "STATE", "WRITTEN", "LOG"});
  for (const BuiltCell& cell : cells)
    for (const CellLog& log : cell.logs)
      table.add(
          {cell.id, log.title, std::string(name_of(log.state)), rfc3339(log.written), log.file.string()});
  table.print();
}

void print_log(const CellLog& log, const FileSystem& files) {
  const std::string text = files.read(log.file).value_or("");
  say("{}\n", last_lines(text, std::numeric_limits<std::size_t>::max()));
}

void run_log(const CLI::App& command, const LogOptions& options, Invocation& invocation) {
  refuse_together(command, "--list", "--step");
  std::vector<BuiltCell> cells = built_cells(options, invocation);
  if (options.list) return print_list(cells);
  if (!options.step.empty()) keep_step(options.step, cells);
  for (const BuiltCell& cell : cells) {
    const CellLog& log = last_log(cell.logs);
    if (cells.size() > 1) say("==> {}: {} <==\n", cell.id, log.title);
    print_log(log, invocation.files);
    if (cells.size() > 1) print_text("\n");
  }
}

}  // namespace

CLI::App* add_log(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<LogOptions>();
  CLI::App* command = add_below(
      app, "log", "Print the log of the step that failed in the last build of a cell, else of its last step",
      "kiln log -f matrix/demo.json framework=jax\n"
      "kiln log -f matrix/demo.json 'pytorch-2.6*' --step 'test *'\n"
      "kiln log -f matrix/demo.json --list");
  add_cell_options(*command, *options);
  add_value(*command, "--step", options->step, "STEP",
            "print the log of this step, test or image: the beginning of its key, or a glob over its title");
  command->add_flag("--list", options->list, "list the logs and their paths");
  command->callback([options, command, &invocation] { run_log(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
