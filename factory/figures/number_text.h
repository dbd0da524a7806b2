// Numbers as figures and tables show them.
#pragma once

#include <string>

namespace kiln {

// Four digits that count: 93.71, 220.6, 1,235, 0.01235. Whole numbers from 1,000 on have their thousands set
// apart.
std::string number_text(double value);

// A ratio of times: "1.13", "0.71", "12.4".
std::string ratio_text(double ratio);

// Bytes as "512 MB"; "" for 0, which is what is not known.
std::string memory_text(double bytes);

}  // namespace kiln
