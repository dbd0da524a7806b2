#include "factory/cli/collection.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/app/collection.h"
#include "factory/base/text.h"
#include "factory/cli/publication.h"
#include "factory/collect/collect.h"
#include "factory/collect/engine_storage.h"
#include "factory/collect/registry_garbage.h"
#include "factory/engine/engine.h"
#include "factory/state/lock.h"

namespace kiln {

std::string registry_to_collect(const std::string& asked, const Invocation& invocation) {
  std::string registry = asked.empty() ? site_place(invocation.site()).registry : asked;
  if (registry.empty())
    throw Error(ExitCode::usage, "--registry: the site file has no \"publish\" that says where",
                "`--registry HOST[:PORT][/PATH]`");
  RegistryAddress::parse(registry);
  return registry;
}

std::string registry_hint(const Roots& roots, const Invocation& invocation) {
  const std::string registry = site_place(invocation.site()).registry;
  if (registry.empty()) return "";
  const RegistryAddress address = RegistryAddress::parse(registry);
  const std::size_t images = unneeded_images(address, PushedNames::reading(invocation.state()), roots);
  if (images == 0) return "";
  return fmt::format("this state folder does not need {} of {}; `kiln gc --registry` lists {}",
                     counted(images, "image"), address.text(), images == 1 ? "it" : "them");
}

namespace {

// What kiln has pushed into a registry, and is no longer needed there.
class RegistryCollection {
 public:
  // `remove`: what is found is to go. REQUIRES then: the state's lock is held. `invocation` outlives this.
  // Throws Error(tool_missing), Error(store).
  RegistryCollection(const std::string& registry, bool remove, Invocation& invocation);

  // Adds what goes, and notes, to `survey`, by its roots. Throws as registry_garbage().
  void find(Survey& survey);
  // Takes it away. Throws as collect_registry(), and Error(network) where the registry refuses to delete.
  void remove();

 private:
  Invocation& invocation_;
  std::unique_ptr<Http> http_;
  RegistryClient client_;
  PushedNames pushed_;
  RegistryGarbage garbage_;
};

RegistryCollection::RegistryCollection(const std::string& registry, bool remove, Invocation& invocation)
    : invocation_(invocation),
      http_(open_http({invocation.environment, invocation.site().pull_limits.stall})),
      client_(registry_access(RegistryAddress::parse(registry), *http_, invocation)),
      pushed_(remove ? PushedNames(invocation.state()) : PushedNames::reading(invocation.state())) {}

void RegistryCollection::find(Survey& survey) {
  std::set<std::string> aliases;
  for (const SiteAlias& alias : site_place(invocation_.site()).aliases) aliases.insert(alias.name());
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
                fmt::format("{} refuses to delete manifests (405): pushed images stay there", host),
                "its configuration decides: docker-registry has `storage: {delete: {enabled: true}}`");
  if (done.tags_left > 0)
    invocation_.note(fmt::format("{} removes no tag alone: {} with the image that {} until that goes, too",
                                 host, counted(done.tags_left, "tag stays", "tags stay"),
                                 done.tags_left == 1 ? "it names," : "they name,"));
}

// Who has no engine here leaves its store to who has.
bool has_engine(const Invocation& invocation) {
  const std::string engine = invocation.site().engine;
  const auto& all = engine_facts();
  return std::ranges::any_of(
      all, [&](const EngineFacts& one) { return one.name == engine && program_of(one, invocation.runner); });
}

std::optional<Index> open_index(bool remove, const Invocation& invocation) {
  if (!invocation.has_index()) return std::nullopt;
  return invocation.index(remove ? Index::Mode::write : Index::Mode::read);
}

Survey look(const Retention& retention, const Index* index, Invocation& invocation) {
  const StatePaths state = invocation.state().with_scratch(invocation.site().scratch);
  Survey found = survey({state, invocation.files, retention, invocation.clock.unix_seconds(), index});
  if (!has_engine(invocation) && invocation.files.is_directory(state.engine())) {
    found.notes.emplace_back(invocation.site().engine +
                             " is not installed here: the engine's store stays as it is");
  } else {
    const EngineGarbage engine = engine_garbage(state, found.steps, invocation.files);
    found.garbage.insert(found.garbage.end(), engine.garbage.begin(), engine.garbage.end());
    if (engine.in_use) found.notes.emplace_back("the engine's store is in use, and stays as it is");
  }
  return found;
}

void collect_engine_store(const Survey& found, Invocation& invocation) {
  if (!has_engine(invocation)) return;
  const StatePaths state = invocation.state().with_scratch(invocation.site().scratch);
  collect_engine(state, found.steps, invocation.site().engine,
                 {invocation.runner, invocation.files, fs::absolute(state.engine()), state.store(),
                  invocation.child_environment(), invocation.clock});
}

// What goes without a word being written.
void clear_caches(const Retention& retention, Invocation& invocation) {
  const std::optional<Index> index = open_index(false, invocation);
  const Survey found = look(retention, index ? &*index : nullptr, invocation);
  collect_engine_store(found, invocation);
  make_room(found, invocation.state(), invocation.files);
}

void note_all(const Survey& found, const Invocation& invocation) {
  for (const std::string& note : found.notes) invocation.note(note);
}

// What the registry has is told beside the rest; where it cannot be, the rest goes on. Null: nothing is to be
// taken away there.
std::unique_ptr<RegistryCollection> look_in_registry(const std::string& registry, bool remove,
                                                     GarbageFound& found, Invocation& invocation) {
  if (registry.empty()) {
    if (std::string hint = registry_hint(found.survey.roots, invocation); !hint.empty())
      found.survey.notes.push_back(hint);
    return nullptr;
  }
  try {
    auto collection = std::make_unique<RegistryCollection>(registry, remove, invocation);
    collection->find(found.survey);
    return collection;
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    found.in_registry = error;
    return nullptr;
  }
}

// After the index has forgotten it. What may be there still is not told as gone.
void remove_from_registry(RegistryCollection& collection, GarbageFound& found) {
  try {
    collection.remove();
  } catch (const Error& error) {
    found.in_registry = error;
    leave_registry_out(found.survey.garbage);
  }
}

}  // namespace

void need_rights_to_collect(const Invocation& invocation) {
  if (has_engine(invocation) &&
      invocation.files.is_directory(invocation.state().with_scratch(invocation.site().scratch).engine()))
    invocation.need_root_or_namespace();
}

GarbageFound look_for_garbage(const CollectionTerms& terms, Invocation& invocation) {
  const std::optional<Index> index = open_index(false, invocation);
  GarbageFound found{look(terms.retention, index ? &*index : nullptr, invocation)};
  look_in_registry(terms.registry, false, found, invocation);
  note_all(found.survey, invocation);
  return found;
}

GarbageFound collect_garbage(const CollectionTerms& terms, Invocation& invocation) {
  const StatePaths state = invocation.state();
  need_no_steps(state, invocation.files);
  sweep_state(state, invocation.files);
  std::error_code unknown;
  const fs::space_info space = fs::space(state.root(), unknown);
  if (!unknown && is_nearly_full(space.available)) clear_caches(terms.retention, invocation);
  std::optional<Index> index = open_index(true, invocation);
  GarbageFound found{look(terms.retention, index ? &*index : nullptr, invocation)};
  const auto collection = look_in_registry(terms.registry, true, found, invocation);
  note_all(found.survey, invocation);
  collect_engine_store(found.survey, invocation);
  collect(found.survey, state, index ? &*index : nullptr, invocation.files);
  if (collection) remove_from_registry(*collection, found);
  if (!found.in_registry)
    keep_stamp({state_stamp(state, terms.retention), invocation.clock.unix_seconds()}, state.collected(),
               invocation.files);
  return found;
}

}  // namespace kiln
