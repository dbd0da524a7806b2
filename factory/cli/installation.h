// Where an installed kiln has its files: PREFIX/bin/kiln finds PREFIX/share/kiln, wherever PREFIX was moved.
#pragma once

#include "factory/base/effects.h"

namespace kiln {

// `share/kiln` beside the folder of the running program, with recipes/, matrix/ and archspec/ when kiln is
// installed. It need not exist: a kiln in its build folder has none.
fs::path shared_folder();

}  // namespace kiln
