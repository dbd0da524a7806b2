#include "factory/cli/gc_registry.h"

#include <fmt/format.h>

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/publish_to.h"

namespace kiln {

std::string registry_to_collect(const std::string& asked, const Invocation& invocation) {
  std::string registry = asked.empty() ? site_place(invocation).registry : asked;
  if (registry.empty())
    throw Error(ExitCode::usage, "--registry: the site file has no \"publish\" that says where",
                "`--registry HOST[:PORT][/PATH]`");
  RegistryAddress::parse(registry);
  return registry;
}

std::string registry_hint(const Roots& roots, const Invocation& invocation) {
  const std::string registry = site_place(invocation).registry;
  if (registry.empty()) return "";
  const RegistryAddress address = RegistryAddress::parse(registry);
  const std::size_t images = unneeded_images(address, PushedNames::reading(invocation.state()), roots);
  if (images == 0) return "";
  return fmt::format("this state folder does not need {} of {}; `kiln gc --registry` lists {}",
                     counted(images, "image"), address.text(), images == 1 ? "it" : "them");
}

RegistryCollection::RegistryCollection(const std::string& registry, bool remove, Invocation& invocation)
    : invocation_(invocation),
      http_(open_http({invocation.environment, invocation.site().pull_limits.stall})),
      client_(registry_access(RegistryAddress::parse(registry), *http_, invocation)),
      pushed_(remove ? PushedNames(invocation.state()) : PushedNames::reading(invocation.state())) {}

void RegistryCollection::find(Survey& survey) {
  std::set<std::string> aliases;
  for (const SiteAlias& alias : site_place(invocation_).aliases) aliases.insert(alias.name());
  garbage_ = registry_garbage({client_, pushed_, survey.roots, std::move(aliases)});
  const std::vector<Garbage> listed = garbage_.listed();
  survey.garbage.insert(survey.garbage.end(), listed.begin(), listed.end());
  survey.notes.insert(survey.notes.end(), garbage_.notes.begin(), garbage_.notes.end());
}

void RegistryCollection::remove() {
  const RegistryCollected done = collect_registry(garbage_, client_, pushed_);
  const std::string& host = client_.address().host;
  if (done.is_refused)
    throw Error(ExitCode::network,
                fmt::format("{} refuses to delete manifests (405): what was pushed there stays", host),
                "its configuration decides: docker-registry has `storage: {delete: {enabled: true}}`");
  if (done.tags_left > 0)
    invocation_.note(fmt::format("{} takes away no tag alone: {} with the image that {} until that goes, too",
                                 host, counted(done.tags_left, "tag stays", "tags stay"),
                                 done.tags_left == 1 ? "it names," : "they name,"));
}

}  // namespace kiln
