// The removal of what survey() found, and for `kiln gc --all` of everything that kiln ever made in a state
// folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/collect/garbage.h"
#include "factory/collect/survey.h"
#include "factory/site/site.h"
#include "factory/state/entry_stamp.h"
#include "factory/state/state.h"

namespace kiln {

struct StateContents {
  std::vector<Garbage> parts;        // in the order in which they go: names before what they name
  std::vector<std::string> unknown;  // files that kiln did not make: they stay
};

// Whether kiln makes something of that name in a state folder.
bool is_state_part(const std::string& name);

// Throws Error(input) for a folder that is not empty and has no file that only kiln makes.
void need_state_folder(const StatePaths& state, const FileSystem& files);

// The contents of the state folder, by the names that StatePaths knows.
StateContents state_contents(const StatePaths& state, const FileSystem& files);

// Takes the parts away; the lock stays, which the caller holds. Throws Error(locked) while something runs.
// REQUIRES: the caller may delete files of the users that engines made them for (root, or inside a user
// namespace).
void empty_state(const StateContents& contents, const StatePaths& state, CommandRunner& runner,
                 FileSystem& files, const std::map<std::string, std::string>& environment);

struct Collected {
  std::size_t removed = 0;
  std::uint64_t bytes = 0;
};

// Rows of the index first, then records, then what they named: killed at any moment, nothing that is named
// lacks its files, and the next run finds the rest. `index`: that of the survey, open for writing; may be
// null. Stops with Error(locked) before the next file of an image when a step began meanwhile, by `kiln step`
// or on another machine; Error(interrupted), Error(store). REQUIRES: the state's lock is held since before
// the survey.
Collected collect(const Survey& survey, const StatePaths& state, Index* index, FileSystem& files);

// The part that needs no writing: for a collection on a full disk, before the index is opened for writing.
// Throws and REQUIRES as collect().
void make_room(const Survey& survey, const StatePaths& state, FileSystem& files);

// Throws Error(locked) while any step of this state folder runs.
void need_no_steps(const StatePaths& state, const FileSystem& files);

// Whether a night may leave the collection out, because the state folder is as the last collection left it.
// Skipping is always safe: what nothing needs stays a little longer.

// A digest of the entries of the state folder (name, inode, size, time of the last change) and of the
// retention. It leaves out the files that each night writes: its lock, lease, reserve and reports, the
// origins of recipes and the metrics. It does not detect changes two folders deep.
std::string state_stamp(const StatePaths& state, const Retention& retention);

// Seconds after which things may have become old enough to go, although nothing changed: a week, or the
// shortest age of `retention` if that is less.
std::int64_t longest_wait(const Retention& retention);

// `last`: the state folder as the last collection left it (StatePaths::collected()); nullopt if none is
// known.
bool is_collection_due(const std::optional<KeptStamp>& last, const std::string& stamp,
                       const Retention& retention, std::int64_t now);

}  // namespace kiln
