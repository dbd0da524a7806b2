// The contents of the engine's private store, <state>/engine: a cache of steps, by their keys.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/collect/garbage.h"
#include "factory/engine/engine.h"
#include "factory/state/state.h"

namespace kiln {

struct EngineGarbage {
  std::vector<std::string> images;      // "localhost/kiln:<key>" of steps that no longer exist
  std::vector<std::string> containers;  // kiln's own: no process uses the store, so their steps are dead
  std::vector<fs::path> folders;        // of apptainer's: layers and containers as above
  bool whole = false;   // kiln removes it as a whole: engines do not remove the remains of a killed one
  bool in_use = false;  // a session is alive: its store is not surveyed
  std::vector<Garbage> garbage;  // the same, for people
};

// By containers/storage's own lists, which are only read. `steps`: keys of those that stay. An image or a
// container that does not have a name as kiln gives them stays.
EngineGarbage engine_garbage(const StatePaths& state, const std::set<std::string>& steps,
                             const FileSystem& files);

// Takes away what is garbage now, by the engine; the store as a whole where that is what it takes, or where
// the engine cannot. Nothing happens while a process uses the store. Throws Error(store),
// Error(tool_missing).
void collect_engine(const StatePaths& state, const std::set<std::string>& steps, const std::string& engine,
                    const EngineSetup& setup);

// Whether a process, here or on another machine, uses the engine's store.
bool engine_is_used(const StatePaths& state, const FileSystem& files);

// Unmounts what a killed engine left mounted, and deletes the store. REQUIRES: no process uses it. Throws
// Error(store).
void delete_engine_store(const StatePaths& state, CommandRunner& runner, FileSystem& files,
                         const std::map<std::string, std::string>& environment);

}  // namespace kiln
