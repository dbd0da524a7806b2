#include "cli/collect_state.h"

#include "image/collect/collect.h"
#include "image/collect/engine_storage.h"
#include "image/state/sweep.h"

namespace kiln {
namespace {

// Who has no engine here leaves its store to who has.
bool has_engine(const Invocation& invocation) {
  return invocation.runner.find_program("buildah").has_value();
}

std::optional<Index> open_index(bool remove, const Invocation& invocation) {
  if (!invocation.has_index()) return std::nullopt;
  return invocation.index(remove ? Index::Mode::write : Index::Mode::read);
}

Survey look(const Retention& retention, const Index* index, Invocation& invocation) {
  const StatePaths state = invocation.state();
  Survey found = survey({state, invocation.files, retention, invocation.clock.unix_seconds(), index});
  if (!has_engine(invocation) && invocation.files.is_directory(state.engine())) {
    found.notes.emplace_back("buildah is not installed here: the engine's store stays as it is");
  } else {
    const EngineGarbage engine = engine_garbage(state, found.steps, invocation.files);
    found.garbage.insert(found.garbage.end(), engine.garbage.begin(), engine.garbage.end());
    if (engine.in_use) found.notes.emplace_back("the engine's store is in use, and stays as it is");
  }
  return found;
}

void collect_engine_store(const Survey& found, Invocation& invocation) {
  if (has_engine(invocation))
    collect_engine(invocation.state(), found.steps, invocation.runner, invocation.files,
                   invocation.child_environment());
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

}  // namespace

void need_rights_to_collect(const Invocation& invocation) {
  if (has_engine(invocation) && invocation.files.is_directory(invocation.state().engine()))
    invocation.need_root_or_namespace();
}

Survey look_for_garbage(const Retention& retention, Invocation& invocation) {
  const std::optional<Index> index = open_index(false, invocation);
  Survey found = look(retention, index ? &*index : nullptr, invocation);
  note_all(found, invocation);
  return found;
}

Survey collect_garbage(const Retention& retention, Invocation& invocation) {
  const StatePaths state = invocation.state();
  need_no_steps(state, invocation.files);
  sweep_state(state, invocation.files);
  if (is_nearly_full(state)) clear_caches(retention, invocation);
  std::optional<Index> index = open_index(true, invocation);
  Survey found = look(retention, index ? &*index : nullptr, invocation);
  note_all(found, invocation);
  collect_engine_store(found, invocation);
  collect(found, state, index ? &*index : nullptr, invocation.files);
  return found;
}

}  // namespace kiln
