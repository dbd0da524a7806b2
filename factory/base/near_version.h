// A hint for a version that is not known: versions are near by their parts, not by their letters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// "did you mean '2.6.0'?" for 2.6.1 among versions that a recipe has: the version that shares the most
// leading parts, and of these the one whose next part is nearest; of two equally near ones the newer. A
// version that shares no part gets did_you_mean(), so that a misspelt word such as `trxie` finds its own.
// Empty: none is near.
std::string did_you_mean_version(std::string_view version, const std::vector<std::string>& known);

}  // namespace kiln
