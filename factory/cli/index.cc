// kiln index: what the registry index holds.
#include "registry/index/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cli/index_demand.h"
#include "factory/cli/index_export.h"
#include "factory/cli/index_fsck.h"
#include "factory/cli/index_list.h"
#include "factory/cli/index_rollback.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/cli/table.h"
#include "factory/record/image_check.h"
#include "factory/state/sif_folder.h"
#include "registry/answer/entry_json.h"
#include "registry/select/mappings.h"

namespace kiln {
namespace {

struct IndexOptions {
  std::string name;
  std::string file;
  std::int64_t snapshot = 0;
  std::string format = "table";
  std::string reason;
  bool undo = false;
};

std::optional<std::int64_t> chosen_snapshot(const IndexOptions& options) {
  return options.snapshot > 0 ? std::optional(options.snapshot) : std::nullopt;
}

// By repository:tag, the immutable one as well, by digest, or by the code of a mapping. Throws
// Error(no_match).
const IndexEntry& find_named(const std::vector<IndexEntry>& entries, const std::string& name) {
  std::vector<std::string> names;
  for (const IndexEntry& entry : entries) {
    bool same = entry.image.name() == name || entry.image.manifest.text() == name ||
                entry.image.repository + ":" + entry.image.immutable_tag == name ||
                (entry.image.external() && entry.image.code == name);
    if (same) return entry;
    names.push_back(entry.image.name());
    if (entry.image.external()) names.push_back(entry.image.code);
  }
  throw Error(ExitCode::no_match, "the index has no image '" + name + "'", did_you_mean(name, names));
}

// Where a reference was asked for, and several mappings have it.
void note_other_codes(const std::vector<IndexEntry>& entries, const ImageRecord& named,
                      const std::string& asked, const Invocation& invocation) {
  if (!named.external() || asked == named.code) return;
  std::vector<std::string> codes;
  for (const IndexEntry& entry : entries)
    if (entry.image.bits() == named.bits()) codes.push_back(entry.image.code);
  if (codes.size() > 1)
    invocation.note(fmt::format("note: {} are {}: {}; a code shows one of them",
                                counted(codes.size(), "mapping"), named.reference, fmt::join(codes, ", ")));
}

void show(const IndexOptions& options, Invocation& invocation) {
  auto entries = invocation.index(Index::Mode::read).entries(chosen_snapshot(options));
  const IndexEntry& entry = find_named(entries, options.name);
  note_other_codes(entries, entry.image, options.name, invocation);
  Json json = entry_json(entry);
  if (entry.image.attachment("sif") != nullptr)
    json["sif"] = sif_path(invocation.state().root(), entry.image).string();
  print_json(json);
}

// An image is its bits: whoever gets them under another name would get the same.
void retire(const IndexOptions& options, Invocation& invocation) {
  if (options.undo == !options.reason.empty())
    throw Error(ExitCode::usage, "say why with --reason, or take it back with --undo",
                "kiln index retire pytorch:2.6.0-distro-x86_64-trixie --reason 'wrong results on zen4'");
  if (std::any_of(options.reason.begin(), options.reason.end(), is_control))
    throw Error(ExitCode::usage, "a reason is one line of text");
  const WriterLock lock = lock_state(invocation, "kiln index retire");
  Index index = invocation.index(Index::Mode::write);
  const std::vector<IndexEntry> entries = index.entries();
  const ImageRecord& named = find_named(entries, options.name).image;
  std::vector<Digest> identities;
  std::string names;
  for (const IndexEntry& entry : entries) {
    if (entry.image.bits() != named.bits()) continue;
    identities.push_back(entry.image.identity());
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.image.name());
    if (entry.image.external()) names += fmt::format(" ({})", entry.image.code);
  }
  const std::int64_t before = index.current();
  const std::int64_t number =
      index.retire(identities, options.reason, rfc3339(invocation.clock.unix_seconds()));
  show_sifs(invocation.state(), index);
  if (number == before)
    say("snapshot {}: nothing new\n", number);
  else
    say("snapshot {}: {} {}\n", number, names, options.undo ? "is not retired any more" : "is retired");
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

void recover(Invocation& invocation) {
  const WriterLock lock = lock_state(invocation, "kiln index recover");
  Index index = invocation.index(Index::Mode::write);
  const RecoveryReport report = index.recover();
  say("{} adopted, {} lost, {} temporaries dropped{}{}\n", report.adopted, report.lost.size(),
      report.temporaries,
      report.rewritten == 0 ? "" : fmt::format(", {} sidecars made again", report.rewritten),
      report.set_aside.empty() ? "" : ", damaged database kept as " + report.set_aside);
  for (const std::string& lost : report.lost) say("lost: {}\n", lost);
  for (const std::string& sidecar : report.unreadable)
    say("unreadable: store/{}: it is not what was written\n", sidecar);
  if (!report.is_whole()) invocation.exit_code = ExitCode::store;
  show_sifs(invocation.state(), index);
}

void import(const IndexOptions& options, Invocation& invocation) {
  invocation.need_file(options.file);
  const WriterLock lock = lock_state(invocation, "kiln index import");
  Index index = invocation.index(Index::Mode::write);
  const std::vector<std::string> compilers = invocation.graph_compilers(index.compilers());
  const Index::Imported done = index.import_mappings(
      [&](const Index::TakeMapping& take) { read_mappings(options.file, compilers, take); },
      rfc3339(invocation.clock.unix_seconds()));
  say("snapshot {}: {} imported\n", done.snapshot, counted(done.mappings, "mapping"));
}

}  // namespace

CLI::App* add_index(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<IndexOptions>();
  CLI::App* command = app.add_subcommand("index", "Show, roll back and repair the registry index");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* help, const char* example) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->fallthrough();
    sub->footer(example);
    return sub;
  };
  auto add_writer = [&](const char* name, const char* help, const char* example) {
    CLI::App* sub = add(name, help, example);
    add_wait_option(*sub, invocation.options);
    return sub;
  };
  add_index_list(*command, invocation);
  CLI::App* show_command = add("show", "Print all that the index has of one image, as JSON",
                               "kiln index show pytorch:2.6.0-distro-x86_64-trixie");
  show_command->add_option("image", options->name, "repository:tag, sha256:digest, or the code of a mapping")
      ->required()
      ->type_name("IMAGE");
  show_command->add_option("--snapshot", options->snapshot, "snapshot by number (default: the current one)");
  show_command->callback([options, &invocation] { show(*options, invocation); });
  CLI::App* snapshots_command =
      add("snapshots", "List the snapshots, newest first", "kiln index snapshots --format json");
  snapshots_command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  snapshots_command->callback([options, &invocation] { snapshots(*options, invocation); });
  add_index_rollback(*command, invocation);
  CLI::App* retire_command =
      add_writer("retire", "Withdraw an image: select no longer chooses it, and gives the reason",
                 "kiln index retire pytorch:2.6.0-distro-x86_64-trixie --reason 'wrong results on zen4'");
  retire_command
      ->add_option("image", options->name, "repository:tag, sha256:digest, or a mapping's code or reference")
      ->required()
      ->type_name("IMAGE");
  retire_command->add_option("--reason", options->reason, "reason, which select shows")->type_name("TEXT");
  retire_command->add_flag("--undo", options->undo, "make the image available again");
  retire_command->callback([options, &invocation] { retire(*options, invocation); });
  add_writer("recover", "Adopt images without rows and mark rows without files", "kiln index recover")
      ->callback([&invocation] { recover(invocation); });
  CLI::App* import_command = add_writer("import", "Import hand-made mappings (MODAK's container_mappings)",
                                        "kiln index import mappings.json");
  import_command->add_option("file", options->file, "JSON file")->required()->type_name("FILE");
  import_command->callback([options, &invocation] { import(*options, invocation); });
  add_index_export(*command, invocation);
  add_index_demand(*command, invocation);
  add_index_fsck(*command, invocation);
  command->footer("kiln index list\nkiln index show pytorch:2.6.0-distro-x86_64-trixie");
  return command;
}

}  // namespace kiln
