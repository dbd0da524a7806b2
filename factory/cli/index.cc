// kiln index: what the registry index holds.
#include "registry/index/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/app/index_names.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/pages/catalogue_pages.h"
#include "factory/pages/state_pages.h"
#include "factory/record/image_blobs.h"
#include "factory/record/image_record.h"
#include "factory/state/sif_folder.h"
#include "registry/answer/answer.h"
#include "registry/index/image_patterns.h"
#include "registry/select/demand.h"
#include "registry/select/mappings.h"

namespace kiln {
namespace {

struct ListRequest {
  std::vector<std::string> patterns;
  std::string format = "table";
  std::int64_t snapshot = 0;
  std::size_t limit = 0;  // 0: none
};

std::vector<IndexEntry> chosen_entries(const ListRequest& request, const Index& index) {
  const ImagePatterns patterns(request.patterns);
  const auto snapshot = snapshot_of(request.snapshot);
  const std::string application = patterns.application();
  auto entries = application.empty() ? index.entries(snapshot) : index.entries_of(application, snapshot);
  std::erase_if(entries, [&](const IndexEntry& entry) { return !patterns.match(entry); });
  if (entries.empty() && !request.patterns.empty())
    throw Error(ExitCode::no_match,
                fmt::format("no image of the index matches '{}'", fmt::join(request.patterns, "' '")));
  return entries;
}

// " (proven)", " (stock)"; nothing where no stock image took turns.
std::string gain_note(const Measurement& measurement) {
  if (measurement.stock) return " (stock)";
  if (!measurement.over_stock) return "";
  const StockGain gain = stock_gain(measurement);
  return gain == StockGain::not_measured ? " (too few rounds)" : fmt::format(" ({})", stock_gain_word(gain));
}

std::string speeds_text(const IndexEntry& entry) {
  std::string text;
  for (const Measurement& measurement : entry.measurements)
    text += fmt::format("{}{} {:.1f} {}{}", text.empty() ? "" : ", ", measurement.workload,
                        measurement.median, measurement.unit, gain_note(measurement));
  return text;
}

// Mappings all are.
std::string untested_word(const ImageRecord& image) {
  return image.external() || image.why_untested().empty() ? "" : " (untested)";
}

void print_list(const std::vector<IndexEntry>& entries) {
  Table table({"IMAGE", "CPU", "DIGEST", "SIZE", "MEASURED"});
  DistinctNames name;
  for (const IndexEntry& entry : entries) name.add(entry.image);
  for (const IndexEntry& entry : entries)
    table.add({name(entry.image) + (entry.stale ? " (stale)" : "") + (entry.failing ? " (failing)" : "") +
                   untested_word(entry.image) +
                   (entry.retired.empty() ? "" : fmt::format(" (retired: {})", entry.retired)),
               entry.image.cpu, entry.image.manifest.hex().substr(0, 12),
               entry.image.size == 0 ? "" : fmt::format("{} MB", entry.image.size / 1'000'000),
               speeds_text(entry)});
  print_text(table.text());
}

void run_list(const ListRequest& request, Invocation& invocation) {
  auto entries = chosen_entries(request, invocation.index(Index::Mode::read));
  const std::size_t all = entries.size();
  if (request.limit > 0 && all > request.limit)
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(request.limit), entries.end());
  if (request.format == "json") {
    print_json(entries_json(entries));
  } else {
    print_list(entries);
  }
  if (entries.size() < all)
    invocation.note(fmt::format("note: the first {} of {}", entries.size(), counted(all, "image")));
}

// `kiln index list`, below `index`.
void add_index_list(CLI::App& index, Invocation& invocation) {
  auto request = std::make_shared<ListRequest>();
  CLI::App* command = add_below(
      index, "list", "List the images of the current snapshot",
      "kiln index list application=pytorch 'target=zen*'\nkiln index list state=stale state=failing\n"
      "kiln index list 'pytorch:2.6*' --limit 20 --format json");
  add_value(*command, "pattern", request->patterns, "PATTERN",
            "only these images: globs over names, or application=, version=, method=, compiler=, "
            "target=, state= (stale, failing, retired, good; untested) or matrix= with a glob");
  add_number(*command, "--limit", request->limit, "N", "print at most this many, and the total", 1,
             1'000'000'000);
  add_format_option(*command, request->format);
  add_snapshot_option(*command, request->snapshot);
  command->callback([request, &invocation] { run_list(*request, invocation); });
}

struct DemandOptions {
  std::string format = "table";
  std::size_t limit = 40;
  bool unmet = false;
};

void print_table(const std::vector<Demand>& all, std::size_t limit) {
  Table table({"TIMES", "LAST", "OUTCOME", "QUESTION", "HOST", "WHY"});
  for (std::size_t i = 0; i < std::min(limit, all.size()); ++i) {
    const Demand& one = all[i];
    table.add({std::to_string(one.count), one.last, std::string(name_of(one.outcome)), one.question,
               one.host.empty() ? "-" : one.host, one.why});
  }
  print_text(table.text());
  if (all.size() > limit) say("{} more: --limit shows them\n", all.size() - limit);
}

void run_demand(const DemandOptions& options, Invocation& invocation) {
  std::vector<Demand> all = read_demand(invocation.state().root());
  if (options.unmet)
    std::erase_if(all, [](const Demand& one) { return one.outcome == Demand::Outcome::answered; });
  if (options.format == "table") return print_table(all, options.limit);
  print_json(json_list(all));
}

// `kiln index demand`, below `index`.
void add_index_demand(CLI::App& index, Invocation& invocation) {
  auto options = std::make_shared<DemandOptions>();
  CLI::App* command = add_below(
      index, "demand", "Show the questions that were asked, missed, or answered second best, and how often",
      "kiln index demand --unmet");
  command->add_flag("--unmet", options->unmet, "only questions that were missed or answered second best");
  add_number(*command, "--limit", options->limit, "N", "print at most this many rows", 1, 1'000'000);
  add_choice(*command, "--format", options->format, {"table", "json"}, "table, or json with all rows");
  command->callback([options, &invocation] { run_demand(*options, invocation); });
}

struct ExportOptions {
  std::string folder;
  std::int64_t snapshot = 0;
  bool mappings = false;
};

void export_mappings(const ExportOptions& options, const Index& index) {
  Json mappings = Json::array();
  for (const IndexEntry& entry : index.entries(snapshot_of(options.snapshot)))
    if (entry.image.external()) mappings.push_back(mapping_json(entry.image));
  print_json(mappings);
}

void export_pages(const ExportOptions& options, const Index& index, Invocation& invocation) {
  const StatePaths state = invocation.state();
  const StatePages source(index, state, invocation.files);
  const CataloguePages pages(read_page_content(index, snapshot_of(options.snapshot), state, invocation.files),
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

// `kiln index export`, below `index`.
void add_index_export(CLI::App& index, Invocation& invocation) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = add_below(
      index, "export", "Write the catalogue as pages for a browser, or print the mappings in MODAK's format",
      "kiln index export --html public\nkiln index export --mappings >mappings.json");
  add_value(*command, "--html", options->folder, "DIR",
            "write the pages into this folder, in place of an earlier export; they need no server");
  command->add_flag("--mappings", options->mappings, "print the mappings in the format of `index import`");
  add_snapshot_option(*command, options->snapshot);
  command->callback([options, &invocation] { run_export(*options, invocation); });
}

struct IndexOptions {
  std::string name;
  std::int64_t snapshot = 0;
  std::string format = "table";
};

// Where a reference was asked for, and several mappings have it.
void note_other_codes(const std::vector<IndexEntry>& entries, const ImageRecord& named,
                      const std::string& asked, const Invocation& invocation) {
  const std::vector<std::string> codes = codes_of(entries, named, asked);
  if (!codes.empty())
    invocation.note(fmt::format("note: {} are {}: {}; a code shows one of them",
                                counted(codes.size(), "mapping"), named.reference, fmt::join(codes, ", ")));
}

void show(const IndexOptions& options, Invocation& invocation) {
  auto entries = invocation.index(Index::Mode::read).entries(snapshot_of(options.snapshot));
  const IndexEntry& entry = find_named(entries, options.name);
  note_other_codes(entries, entry.image, options.name, invocation);
  Json json = entry_json(entry);
  if (entry.image.attachment("sif") != nullptr)
    json["sif"] = sif_path(invocation.state().root(), entry.image).string();
  print_json(json);
}

void snapshots(const IndexOptions& options, Invocation& invocation) {
  const std::vector<Snapshot> all = invocation.index(Index::Mode::read).snapshots();
  if (options.format == "json") return print_json(snapshots_json(all));
  Table table({"SNAPSHOT", "CREATED", "IMAGES", "NOTE", ""});
  for (const Snapshot& snapshot : all)
    table.add({std::to_string(snapshot.number), snapshot.created, std::to_string(snapshot.images),
               snapshot.note,
               snapshot.held      ? "current, held"
               : snapshot.current ? "current"
                                  : ""});
  print_text(table.text());
}

}  // namespace

CLI::App* add_index(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<IndexOptions>();
  CLI::App* command = add_below(app, "index", "Show, roll back and repair the registry index",
                                "kiln index list\nkiln index show pytorch:2.6.0-distro-x86_64-trixie");
  command->require_subcommand(1);
  add_index_list(*command, invocation);
  CLI::App* showing = add_below(*command, "show", "Print all that the index has of one image, as JSON",
                                "kiln index show pytorch:2.6.0-distro-x86_64-trixie");
  add_value(*showing, "image", options->name, "IMAGE",
            "repository:tag, sha256:digest, or the code of a mapping")
      ->required();
  add_snapshot_option(*showing, options->snapshot);
  showing->callback([options, &invocation] { show(*options, invocation); });
  CLI::App* listing = add_below(*command, "snapshots", "List the snapshots, newest first",
                                "kiln index snapshots --format json");
  add_format_option(*listing, options->format);
  listing->callback([options, &invocation] { snapshots(*options, invocation); });
  add_index_changes(*command, invocation);
  add_index_export(*command, invocation);
  add_index_demand(*command, invocation);
  add_index_fsck(*command, invocation);
  return command;
}

}  // namespace kiln
