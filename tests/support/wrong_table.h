// A table of results with one mistake, for with_mistake() and the reader's complaint.
#pragma once

#include <ostream>
#include <string>

namespace kiln::testing {

struct WrongTable {
  std::string from, to, error;
};

inline void PrintTo(const WrongTable& table, std::ostream* out) { *out << table.to; }

}  // namespace kiln::testing
