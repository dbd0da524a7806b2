// kiln index list: the images of a snapshot, or those that patterns ask for.
#include "factory/cli/index_list.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/cli/table.h"
#include "factory/record/distinct_names.h"
#include "registry/answer/entry_json.h"
#include "registry/index/image_patterns.h"

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
  const auto snapshot = request.snapshot > 0 ? std::optional(request.snapshot) : std::nullopt;
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

}  // namespace

void add_index_list(CLI::App& index, Invocation& invocation) {
  auto request = std::make_shared<ListRequest>();
  CLI::App* command = index.add_subcommand("list", "List the images of the current snapshot");
  command->fallthrough();
  command
      ->add_option("pattern", request->patterns,
                   "only these images: globs over names, or application=, version=, method=, compiler=, "
                   "target=, state= (stale, failing, retired, good; untested) or matrix= with a glob")
      ->type_name("PATTERN");
  command->add_option("--limit", request->limit, "print at most this many, and the total")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--format", request->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->add_option("--snapshot", request->snapshot, "snapshot by number (default: the current one)");
  command->footer(
      "kiln index list application=pytorch 'target=zen*'\nkiln index list state=stale state=failing\n"
      "kiln index list 'pytorch:2.6*' --limit 20 --format json");
  command->callback([request, &invocation] { run_list(*request, invocation); });
}

}  // namespace kiln
