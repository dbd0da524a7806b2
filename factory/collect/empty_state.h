// `kiln gc --all`: everything that kiln ever made in a state folder goes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/collect/garbage.h"
#include "factory/state/state.h"

namespace kiln {

struct StateContents {
  std::vector<Garbage> parts;        // in the order in which they go: names before what they name
  std::vector<std::string> unknown;  // files that kiln did not make: they stay
};

// Whether kiln makes something of that name in a state folder.
bool is_state_part(const std::string& name);

// Throws Error(input) for a folder in which something lies, and nothing that only kiln makes.
void need_state_folder(const StatePaths& state, const FileSystem& files);

// What lies there, by the names that StatePaths knows.
StateContents state_contents(const StatePaths& state, const FileSystem& files);

// Takes the parts away; the lock stays, which the caller holds. Throws Error(locked) while something runs.
// REQUIRES: the caller may delete files of the users that engines made them for (root, or inside a user
// namespace).
void empty_state(const StateContents& contents, const StatePaths& state, CommandRunner& runner,
                 FileSystem& files, const std::map<std::string, std::string>& environment);

}  // namespace kiln
