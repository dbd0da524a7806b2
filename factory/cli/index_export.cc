// kiln index export: the index for others, as mappings for programs and as pages for people.
#include "factory/cli/index_export.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/pages/page_folder.h"
#include "factory/pages/state_pages.h"
#include "registry/select/mappings.h"

namespace kiln {
namespace {

struct ExportOptions {
  std::string folder;
  std::int64_t snapshot = 0;
  bool mappings = false;
};

std::optional<std::int64_t> asked_snapshot(const ExportOptions& options) {
  return options.snapshot > 0 ? std::optional(options.snapshot) : std::nullopt;
}

void export_mappings(const ExportOptions& options, const Index& index) {
  Json mappings = Json::array();
  for (const IndexEntry& entry : index.entries(asked_snapshot(options)))
    if (entry.image.external()) mappings.push_back(mapping_json(entry.image));
  print_json(mappings);
}

void export_pages(const ExportOptions& options, const Index& index, Invocation& invocation) {
  const StatePaths state = invocation.state();
  const StatePages source(index, state, invocation.files);
  const CataloguePages pages(read_page_content(index, asked_snapshot(options), state, invocation.files),
                             source);
  const WrittenPages written = write_pages(pages, options.folder, invocation.files);
  say("{}: snapshot {}, {}, {}, {:.1f} MB\n", options.folder, pages.content().snapshot,
      counted(pages.content().entries.size(), "image"), counted(written.files, "file"),
      static_cast<double>(written.bytes) / 1e6);
}

void run_export(const ExportOptions& options, Invocation& invocation) {
  if (options.mappings == !options.folder.empty())
    throw Error(ExitCode::usage, "say what to export: --html DIR or --mappings",
                "kiln index export --html public");
  const Index index = invocation.index(Index::Mode::read);
  if (options.mappings)
    export_mappings(options, index);
  else
    export_pages(options, index, invocation);
}

}  // namespace

void add_index_export(CLI::App& index, Invocation& invocation) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = index.add_subcommand(
      "export", "Write the catalogue as pages for a browser, or print the mappings in MODAK's format");
  command->fallthrough();
  command
      ->add_option("--html", options->folder,
                   "write the pages into this folder, in place of an earlier export; they need no server")
      ->type_name("DIR");
  command->add_flag("--mappings", options->mappings, "print the mappings in the format of `index import`");
  command->add_option("--snapshot", options->snapshot, "snapshot by number (default: the current one)");
  command->footer("kiln index export --html public\nkiln index export --mappings >mappings.json");
  command->callback([options, &invocation] { run_export(*options, invocation); });
}

}  // namespace kiln
