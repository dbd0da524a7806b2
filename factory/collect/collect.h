// The removal of what survey() found.
#pragma once

#include <functional>

#include "factory/collect/survey.h"

namespace kiln {

struct Collected {
  std::size_t removed = 0;
  std::uint64_t bytes = 0;
};

// Rows of the index first, then records, then what they named: killed at any moment, nothing that is named
// lacks its files, and the next run finds the rest. `index`: that of the survey, open for writing; may be
// null. Stops with Error(locked) before the next file of an image when a step began meanwhile, by itself or
// on another machine; Error(interrupted), Error(store). REQUIRES: the state's lock is held since before the
// survey.
Collected collect(const Survey& survey, const StatePaths& state, Index* index, FileSystem& files);

// The part of it for which nothing has to be written: for whoever collects because the disk is full, before
// the index is opened for writing. Throws and REQUIRES as collect().
void make_room(const Survey& survey, const StatePaths& state, FileSystem& files);

// Throws Error(locked) while any step of this state folder runs.
void need_no_steps(const StatePaths& state, const FileSystem& files);

}  // namespace kiln
