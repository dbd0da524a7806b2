// Where an installed kiln has its files: PREFIX/bin/kiln finds PREFIX/share/kiln, wherever PREFIX was moved.
// A kiln that is not installed finds its checkout.
#pragma once

#include "factory/base/effects.h"

namespace kiln {

// `share/kiln` beside the folder of the running program, with recipes/, matrix/ and archspec/. It need not
// exist. Of a program that lies in the build folder of a checkout, build/PRESET, the checkout.
fs::path shared_folder();

}  // namespace kiln
