// The files of the state folder that are neither of the store nor of the index: plans, results of tunings,
// tables.
#pragma once

#include <vector>

#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/record/tuned_record.h"
#include "factory/state/state.h"

namespace kiln {

// The result of a tuning. Throws Error(store) if kiln did not write the file.
TunedRecord read_tuned(const fs::path& file, const FileSystem& files);

// An error for each plan and each result that kiln cannot read, and for the first table. A table is held
// against its sum. Plans and results have none, so that another letter in a text of theirs is not found.
std::vector<Error> kept_damage(const StatePaths& state, FileSystem& files);

}  // namespace kiln
