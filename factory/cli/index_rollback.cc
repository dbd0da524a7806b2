// kiln index rollback, release: an earlier snapshot becomes the current one, in the index and in the
// registry, and stays it.
#include "factory/cli/index_rollback.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/cli/publish_images.h"
#include "factory/cli/publish_to.h"
#include "factory/cli/state_lock.h"
#include "factory/cli/usage.h"
#include "factory/state/sif_folder.h"

namespace kiln {
namespace {

struct RollbackRequest {
  std::int64_t snapshot = 0;
  std::string to;
  bool local = false;
};

// Images of the index by the registry that they are in.
std::map<std::string, std::set<std::string>> names_by_registry(const Index& index) {
  std::map<std::string, std::set<std::string>> names;
  for (const IndexEntry& entry : index.entries())
    if (!entry.image.published.registry.empty())
      names[entry.image.published.registry].insert(entry.image.name());
  return names;
}

// Whose tags stay as they are, and what to do about it.
void say_others(const std::map<std::string, std::set<std::string>>& names, const std::string& followed,
                const RollbackRequest& request) {
  for (const auto& [registry, images] : names)
    if (registry != followed)
      say("{}: the tags of {} in this registry stay as they are; `kiln index rollback {} --to {}` moves "
          "them\n",
          registry, counted(images.size(), "image"), request.snapshot, registry);
}

void say_news(const RegistryNews& news) {
  say("{}\n", news.pushed);
  for (const std::string& part : news.mended) say("mended {}\n", part);
  for (const std::string& part : news.lost) say("lost {}\n", part);
  for (const std::string& tag : news.left) say("left {}\n", tag);
  for (const std::string& alias : news.unclear) say("left {}\n", alias);
  refuse_lost(news.lost);
  refuse_left(news.left);
  refuse_unclear(news.unclear);
}

// Tags of images that only came later still name them.
void say_newer(const std::set<std::string>& before, const std::set<std::string>& now,
               const std::string& registry) {
  for (const std::string& name : before)
    if (!now.contains(name))
      say("{}: the tag of {} stays in the registry; the current snapshot does not have this image\n",
          registry, name);
}

void follow_in_registry(const PublishPlace& place, std::int64_t number, Invocation& invocation) {
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
  say_news(news);
}

void roll_back(const RollbackRequest& request, Invocation& invocation) {
  const PublishPlace place = request.local ? PublishPlace() : publish_place({request.to, "", ""}, invocation);
  const WriterLock lock = lock_state(invocation, "kiln index rollback");
  Index index = invocation.index(Index::Mode::write);
  const auto before = names_by_registry(index);
  const std::int64_t number = index.rollback(request.snapshot, rfc3339(invocation.clock.unix_seconds()));
  show_sifs(invocation.state(), index);
  if (number == request.snapshot)
    say("snapshot {} is current\n", number);
  else
    say("snapshot {} is current: snapshot {}, without what was retired since\n", number, request.snapshot);
  if (index.held()) say("it is held: nights publish nothing until `kiln index release`\n");
  const auto now = names_by_registry(index);
  const std::string followed = place.registry.empty() ? "" : RegistryAddress::parse(place.registry).text();
  say_others(now, followed, request);
  if (followed.empty() || (!now.contains(followed) && !before.contains(followed))) return;
  const auto in = [&](const auto& names) {
    const auto found = names.find(followed);
    return found == names.end() ? std::set<std::string>() : found->second;
  };
  say_newer(in(before), in(now), followed);
  follow_in_registry(place, number, invocation);
}

void release(Invocation& invocation) {
  const WriterLock lock = lock_state(invocation, "kiln index release");
  Index index = invocation.index(Index::Mode::write);
  if (!index.held()) return say("snapshot {} is not held\n", index.current());
  index.release();
  say("snapshot {} is no longer held: the next night publishes\n", index.current());
}

}  // namespace

void add_index_rollback(CLI::App& index, Invocation& invocation) {
  auto request = std::make_shared<RollbackRequest>();
  CLI::App* command = index.add_subcommand(
      "rollback", "Make an earlier snapshot the current one, and hold it there; the registry's tags follow");
  command->fallthrough();
  command->add_option("snapshot", request->snapshot, "number of the snapshot")->required();
  command->add_option("--to", request->to, "the registry whose tags follow (default: the site file's)")
      ->type_name("REGISTRY");
  command->add_flag("--local", request->local, "change the index only; the registry's tags stay as they are");
  add_wait_option(*command, invocation.options);
  command->footer("kiln index rollback 41");
  command->callback([request, command, &invocation] {
    refuse_together(*command, "--local", "--to", "nothing goes to a registry");
    roll_back(*request, invocation);
  });
  CLI::App* release_command = index.add_subcommand(
      "release", "Release a snapshot that `kiln index rollback` holds: nights publish again");
  release_command->fallthrough();
  add_wait_option(*release_command, invocation.options);
  release_command->footer("kiln index release");
  release_command->callback([&invocation] { release(invocation); });
}

}  // namespace kiln
