// A night as a JUnit report (report/junit.h): a case for each image, each gate, each trouble and the night.
// Pure.
#pragma once

#include <string>

#include "factory/night/night.h"

namespace kiln {

// With a newline at its end.
std::string night_junit(const NightReport& report);

}  // namespace kiln
