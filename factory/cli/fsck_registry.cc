#include "factory/cli/fsck_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/text.h"
#include "factory/cli/gc_registry.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/cli/publish_to.h"

namespace kiln {

RegistryFsck check_registry(const std::string& asked, bool read, bool repair, Invocation& invocation) {
  PublishPlace place = site_place(invocation);
  place.registry = registry_to_collect(asked, invocation);
  RegistryFsck found;
  found.registry = RegistryAddress::parse(place.registry).text();
  if (!invocation.has_index()) return found;
  const Index index = invocation.index(Index::Mode::read);
  for (const IndexEntry& entry : index.entries())
    if (entry.image.published.registry == found.registry) ++found.images;
  PublishTarget target(place, invocation,
                       repair ? PublishTarget::Work::publish : PublishTarget::Work::only_look);
  target.keep_all(index, read);
  if (repair)
    target.move_tags(index, false);
  else
    target.look_at_tags(index);
  const PushReport& report = target.report();
  found.mended = report.mended;
  found.lost = report.lost;
  found.left = report.foreign;
  return found;
}

Json to_json(const RegistryFsck& found) {
  return {{"registry", found.registry},
          {"images", found.images},
          {"mended", found.mended},
          {"lost", found.lost},
          {"left", found.left}};
}

void print(const RegistryFsck& found) {
  for (const std::string& part : found.mended) say("mended {}\n", part);
  for (const std::string& part : found.lost) say("lost {}\n", part);
  for (const std::string& tag : found.left) say("left {}\n", tag);
  say("{}: {} looked at: ", found.registry, counted(found.images, "image"));
  if (found.lost.empty() && found.left.empty())
    return say("{}\n", found.mended.empty() ? "nothing is lost" : "all of them are whole now");
  say("{} lost, {} left\n", counted(found.lost.size(), "part"), counted(found.left.size(), "tag"));
}

std::string registries_of_index(const Invocation& invocation) {
  std::set<std::string> registries;
  if (invocation.has_index())
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      if (!entry.image.published.registry.empty()) registries.insert(entry.image.published.registry);
  return fmt::format("{}", fmt::join(registries, ", "));
}

}  // namespace kiln
