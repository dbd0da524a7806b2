#include "factory/cli/collect_state.h"

#include <algorithm>
#include <memory>

#include "factory/cli/gc_registry.h"
#include "factory/collect/collect.h"
#include "factory/collect/collection_due.h"
#include "factory/collect/engine_storage.h"
#include "factory/engine/engine_facts.h"
#include "factory/state/sweep.h"

namespace kiln {
namespace {

// Who has no engine here leaves its store to who has.
bool has_engine(const Invocation& invocation) {
  const std::string engine = invocation.site().engine;
  const auto& all = engine_facts();
  return std::any_of(all.begin(), all.end(), [&](const EngineFacts& one) {
    return one.name == engine && program_of(one, invocation.runner);
  });
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

// So full that the index may have no room to be written.
bool is_nearly_full(const StatePaths& state) {
  constexpr std::uintmax_t kRoom = 256u << 20;
  std::error_code unknown;
  const fs::space_info space = fs::space(state.root(), unknown);
  return !unknown && space.available < kRoom;
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
    std::erase_if(found.survey.garbage,
                  [](const Garbage& one) { return one.kind >= GarbageKind::pushed_tag; });
  }
}

}  // namespace

void need_rights_to_collect(const Invocation& invocation) {
  if (has_engine(invocation) &&
      invocation.files.is_directory(invocation.state().with_scratch(invocation.site().scratch).engine()))
    invocation.need_root_or_namespace();
}

GarbageFound look_for_garbage(const GarbageHunt& hunt, Invocation& invocation) {
  const std::optional<Index> index = open_index(false, invocation);
  GarbageFound found{look(hunt.retention, index ? &*index : nullptr, invocation)};
  look_in_registry(hunt.registry, false, found, invocation);
  note_all(found.survey, invocation);
  return found;
}

GarbageFound collect_garbage(const GarbageHunt& hunt, Invocation& invocation) {
  const StatePaths state = invocation.state();
  need_no_steps(state, invocation.files);
  sweep_state(state, invocation.files);
  if (is_nearly_full(state)) clear_caches(hunt.retention, invocation);
  std::optional<Index> index = open_index(true, invocation);
  GarbageFound found{look(hunt.retention, index ? &*index : nullptr, invocation)};
  const auto collection = look_in_registry(hunt.registry, true, found, invocation);
  note_all(found.survey, invocation);
  collect_engine_store(found.survey, invocation);
  collect(found.survey, state, index ? &*index : nullptr, invocation.files);
  if (collection) remove_from_registry(*collection, found);
  if (!found.in_registry)
    keep_stamp({state_stamp(state, hunt.retention), invocation.clock.unix_seconds()}, state.collected(),
               invocation.files);
  return found;
}

}  // namespace kiln
