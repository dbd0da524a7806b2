// Times of records, which ninja looks at.
#pragma once

#include <cstddef>

#include "factory/state/state.h"

namespace kiln {

// Gives the records of steps, tests and images the present time where theirs is before 1970, as after a
// restore from an archive or on a machine whose clock was wrong: ninja takes such a time for an error and
// does not say of which file. Returns how many. Throws Error(store).
std::size_t renew_record_times(const StatePaths& state);

}  // namespace kiln
