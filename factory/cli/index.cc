// kiln index: what the registry index holds.
#include "registry/index.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/reading.h"
#include "cli/invocation.h"
#include "cli/table.h"
#include "image/state/lock.h"
#include "image/state/sif_folder.h"
#include "registry/mappings.h"

namespace kiln {
namespace {

struct IndexOptions {
  std::string format = "table";
  std::string name;
  std::string file;
  std::int64_t snapshot = 0;
};

std::optional<std::int64_t> chosen_snapshot(const IndexOptions& options) {
  return options.snapshot > 0 ? std::optional(options.snapshot) : std::nullopt;
}

Json entry_json(const IndexEntry& entry) {
  Json json = to_json(entry.image);
  json["name"] = entry.image.name();
  json["stale"] = entry.stale;
  json["measurements"] = Json::array();
  for (const Measurement& measurement : entry.measurements)
    json["measurements"].push_back(to_json(measurement));
  return json;
}

void list(const IndexOptions& options, Invocation& invocation) {
  auto entries = invocation.index(Index::Mode::read).entries(chosen_snapshot(options));
  if (options.format == "json") {
    Json all = Json::array();
    for (const IndexEntry& entry : entries) all.push_back(entry_json(entry));
    fmt::print("{}\n", all.dump(2));
    return;
  }
  Table table({"IMAGE", "CPU", "DIGEST", "SIZE", "MEASURED"});
  for (const IndexEntry& entry : entries) {
    std::string speed;
    for (const Measurement& measurement : entry.measurements)
      speed += fmt::format("{}{} {:.1f} {}", speed.empty() ? "" : ", ", measurement.workload,
                           measurement.median, measurement.unit);
    table.add({entry.image.name() + (entry.stale ? " (stale)" : ""), entry.image.cpu,
               entry.image.manifest.hex().substr(0, 12),
               entry.image.size == 0 ? "" : fmt::format("{} MB", entry.image.size / 1'000'000), speed});
  }
  fmt::print("{}", table.text());
}

void show(const IndexOptions& options, Invocation& invocation) {
  auto entries = invocation.index(Index::Mode::read).entries(chosen_snapshot(options));
  std::vector<std::string> names;
  for (const IndexEntry& entry : entries) {
    bool same = entry.image.name() == options.name || entry.image.manifest.text() == options.name ||
                entry.image.repository + ":" + entry.image.immutable_tag == options.name;
    if (same) {
      Json json = entry_json(entry);
      if (entry.image.attachment("sif") != nullptr)
        json["sif"] = sif_path(invocation.state(), entry.image).string();
      fmt::print("{}\n", json.dump(2));
      return;
    }
    names.push_back(entry.image.name());
  }
  throw Error(ExitCode::no_match, "the index has no image '" + options.name + "'",
              did_you_mean(options.name, names));
}

void snapshots(Invocation& invocation) {
  Table table({"SNAPSHOT", "CREATED", "IMAGES", "NOTE", ""});
  for (const Snapshot& snapshot : invocation.index(Index::Mode::read).snapshots())
    table.add({std::to_string(snapshot.number), snapshot.created, std::to_string(snapshot.images),
               snapshot.note, snapshot.current ? "current" : ""});
  fmt::print("{}", table.text());
}

void rollback(const IndexOptions& options, Invocation& invocation) {
  StateLock lock(invocation.state().lock(), invocation.clock, "kiln index rollback");
  Index index = invocation.index(Index::Mode::write);
  index.rollback(options.snapshot);
  show_sifs(invocation.state(), index);
  fmt::print("snapshot {} is current\n", options.snapshot);
}

void recover(Invocation& invocation) {
  StateLock lock(invocation.state().lock(), invocation.clock, "kiln index recover");
  Index index = invocation.index(Index::Mode::write);
  RecoveryReport report = index.recover();
  show_sifs(invocation.state(), index);
  fmt::print("{} adopted, {} lost, {} temporaries dropped{}{}\n", report.adopted, report.lost.size(),
             report.temporaries,
             report.rewritten == 0 ? "" : fmt::format(", {} sidecars made again", report.rewritten),
             report.set_aside.empty() ? "" : ", damaged database kept as " + report.set_aside);
  for (const std::string& lost : report.lost) fmt::print("lost: {}\n", lost);
  for (const std::string& sidecar : report.unreadable)
    fmt::print("unreadable: store/{}: it is not what was written\n", sidecar);
  if (!report.is_whole()) invocation.exit_code = ExitCode::store;
}

void import(const IndexOptions& options, Invocation& invocation) {
  const JsonDocument document = read_document(invocation.files, options.file);
  StateLock lock(invocation.state().lock(), invocation.clock, "kiln index import");
  Index index = invocation.index(Index::Mode::write);
  auto mappings = read_mappings(document, invocation.graph_compilers(index.entries()));
  std::int64_t number = index.import_mappings(mappings, rfc3339(invocation.clock.unix_seconds()));
  show_sifs(invocation.state(), index);
  fmt::print("snapshot {}: {} mappings imported\n", number, mappings.size());
}

}  // namespace

CLI::App* add_index(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<IndexOptions>();
  CLI::App* command = app.add_subcommand("index", "Look into the registry index, roll it back, repair it");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* help, const char* example) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->fallthrough();
    sub->footer(example);
    return sub;
  };
  CLI::App* list_command =
      add("list", "List the images of the current snapshot", "kiln index list --format json");
  list_command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  list_command->add_option("--snapshot", options->snapshot, "of this snapshot (default: the current one)");
  list_command->callback([options, &invocation] { list(*options, invocation); });
  CLI::App* show_command = add("show", "Print everything known of one image, as JSON",
                               "kiln index show pytorch:2.6.0-distro-x86_64-trixie");
  show_command->add_option("image", options->name, "repository:tag or sha256:digest")
      ->required()
      ->type_name("IMAGE");
  show_command->add_option("--snapshot", options->snapshot, "of this snapshot (default: the current one)");
  show_command->callback([options, &invocation] { show(*options, invocation); });
  add("snapshots", "List the snapshots, newest first", "kiln index snapshots")->callback([&invocation] {
    snapshots(invocation);
  });
  CLI::App* rollback_command =
      add("rollback", "Make an earlier snapshot the current one", "kiln index rollback 41");
  rollback_command->add_option("snapshot", options->snapshot, "number")->required();
  rollback_command->callback([options, &invocation] { rollback(*options, invocation); });
  add("recover", "Adopt images without rows and mark rows without files", "kiln index recover")
      ->callback([&invocation] { recover(invocation); });
  CLI::App* import_command = add("import", "Import hand-made mappings (MODAK's container_mappings)",
                                 "kiln index import mappings.json");
  import_command->add_option("file", options->file, "JSON file")->required()->type_name("FILE");
  import_command->callback([options, &invocation] { import(*options, invocation); });
  command->footer("kiln index list\nkiln index show pytorch:2.6.0-distro-x86_64-trixie");
  return command;
}

}  // namespace kiln
