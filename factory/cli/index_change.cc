// kiln index rollback, release, retire, recover, import: changes of the index.
#include <fmt/format.h>

#include <algorithm>

#include "factory/app/index_names.h"
#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/publication.h"
#include "factory/cli/state_lock.h"
#include "factory/state/sif_folder.h"
#include "registry/select/mappings.h"

namespace kiln {
namespace {

struct ChangeRequest {
  std::string image, reason;  // to retire
  bool undo = false;
  std::string file;  // to import
};

struct RollbackRequest {
  std::int64_t snapshot = 0;
  std::string to;
  bool local = false;
};

// Tags that stay as they are, and what to do about them.
void say_other_tags(const FollowingTags& tags, const std::string& followed, std::int64_t snapshot) {
  for (const auto& [registry, images] : tags.others)
    say("{}: the tags of {} in this registry stay as they are; `kiln index rollback {} --to {}` moves "
        "them\n",
        registry, counted(images, "image"), snapshot, registry);
  for (const std::string& name : tags.newer)
    say("{}: the tag of {} stays in the registry; the current snapshot does not have this image\n", followed,
        name);
}

void follow_in_registry(const PublishDestination& place, std::int64_t number, Invocation& invocation) {
  RegistryNews news;
  try {
    news = follow_index(place, true, invocation);
  } catch (Error& error) {
    error.while_doing(
        fmt::format("moving the tags of {} to snapshot {}, which is current in the index: run the "
                    "command again",
                    place.registry, number));
    throw;
  }
  tell_registry_news(news);
}

void roll_back(const RollbackRequest& request, Invocation& invocation) {
  const PublishDestination place = request.local
                                       ? PublishDestination()
                                       : chosen_place(site_place(invocation.site()), {request.to, "", ""});
  const WriterLock lock = lock_state(invocation, "kiln index rollback");
  Index index = invocation.index(Index::Mode::write);
  const NamesByRegistry before = names_by_registry(index.entries());
  const std::int64_t number = index.rollback(request.snapshot, rfc3339(invocation.clock.unix_seconds()));
  show_sifs(invocation.state(), index);
  if (number == request.snapshot)
    say("snapshot {} is current\n", number);
  else
    say("snapshot {} is current: snapshot {}, without the images retired since\n", number, request.snapshot);
  if (index.held()) say("it is held: nights publish nothing until `kiln index release`\n");
  const std::string followed = place.registry.empty() ? "" : RegistryAddress::parse(place.registry).text();
  const FollowingTags tags = following_tags(before, names_by_registry(index.entries()), followed);
  say_other_tags(tags, followed, request.snapshot);
  if (tags.move) follow_in_registry(place, number, invocation);
}

void release(Invocation& invocation) {
  const WriterLock lock = lock_state(invocation, "kiln index release");
  Index index = invocation.index(Index::Mode::write);
  if (!index.held()) return say("snapshot {} is not held\n", index.current());
  index.release();
  say("snapshot {} is no longer held: the next night publishes\n", index.current());
}

// An image is its bits: whoever gets them under another name would get the same.
void retire(const ChangeRequest& options, Invocation& invocation) {
  if (options.undo == !options.reason.empty())
    throw Error(ExitCode::usage, "say why with --reason, or take it back with --undo",
                "kiln index retire pytorch:2.6.0-distro-x86_64-trixie --reason 'wrong results on zen4'");
  if (std::ranges::any_of(options.reason, is_control))
    throw Error(ExitCode::usage, "a reason is one line of text");
  const WriterLock lock = lock_state(invocation, "kiln index retire");
  Index index = invocation.index(Index::Mode::write);
  const std::vector<IndexEntry> entries = index.entries();
  const SameBits same = same_bits(entries, find_named(entries, options.image).image);
  const std::int64_t before = index.current();
  const std::int64_t number =
      index.retire(same.identities, options.reason, rfc3339(invocation.clock.unix_seconds()));
  show_sifs(invocation.state(), index);
  if (number == before)
    say("snapshot {}: nothing new\n", number);
  else
    say("snapshot {}: {} {}\n", number, same.names, options.undo ? "is not retired any more" : "is retired");
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

void import(const ChangeRequest& options, Invocation& invocation) {
  invocation.need_file(options.file);
  const WriterLock lock = lock_state(invocation, "kiln index import");
  Index index = invocation.index(Index::Mode::write);
  const std::vector<std::string> compilers = invocation.graph_compilers(index.compilers());
  const Index::Imported done = index.import_mappings(
      [&](const Index::AddMapping& take) { read_mappings(options.file, compilers, take); },
      rfc3339(invocation.clock.unix_seconds()));
  say("snapshot {}: {} imported\n", done.snapshot, counted(done.mappings, "mapping"));
}

}  // namespace

void add_index_changes(CLI::App& index, Invocation& invocation) {
  auto add = [&](const char* name, const char* text, const char* example) {
    CLI::App* command = add_below(index, name, text, example);
    add_wait_option(*command, invocation.options);
    return command;
  };
  auto rollback = std::make_shared<RollbackRequest>();
  CLI::App* command =
      add_below(index, "rollback",
                "Make an earlier snapshot the current one, and hold it there; the registry's tags "
                "follow",
                "kiln index rollback 41");
  command->add_option("snapshot", rollback->snapshot, "number of the snapshot")->required();
  add_value(*command, "--to", rollback->to, "REGISTRY",
            "the registry whose tags follow (default: the site file's)");
  command->add_flag("--local", rollback->local,
                    "change the index only; the registry's tags stay as they are");
  add_wait_option(*command, invocation.options);
  command->callback([rollback, command, &invocation] {
    refuse_together(*command, "--local", "--to", "nothing is pushed to a registry");
    roll_back(*rollback, invocation);
  });
  add("release", "Release a snapshot that `kiln index rollback` holds: nights publish again",
      "kiln index release")
      ->callback([&invocation] { release(invocation); });
  auto request = std::make_shared<ChangeRequest>();
  CLI::App* retiring = add(
      "retire",
      "Withdraw an image: select no longer chooses it, and gives the reason; its tag stays in the registry",
      "kiln index retire pytorch:2.6.0-distro-x86_64-trixie --reason 'wrong results on zen4'");
  add_value(*retiring, "image", request->image, "IMAGE",
            "repository:tag, sha256:digest, or a mapping's code or reference")
      ->required();
  add_value(*retiring, "--reason", request->reason, "TEXT", "reason, which select shows");
  retiring->add_flag("--undo", request->undo, "make the image available again");
  retiring->callback([request, &invocation] { retire(*request, invocation); });
  add("recover", "Adopt images without rows and mark rows without files", "kiln index recover")
      ->callback([&invocation] { recover(invocation); });
  CLI::App* importing = add("import", "Import hand-made mappings (MODAK's container_mappings)",
                            "kiln index import mappings.json");
  add_value(*importing, "file", request->file, "FILE", "JSON file")->required();
  importing->callback([request, &invocation] { import(*request, invocation); });
}

}  // namespace kiln
