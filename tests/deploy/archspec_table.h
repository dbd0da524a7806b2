// archspec's own table.
#pragma once

#include "factory/cpu/microarchitecture.h"
#include "support/memory_folder.h"

namespace kiln::testing {

inline const Microarchitectures& archspec_table() {
  static const Microarchitectures table =
      Microarchitectures::parse(read_bytes(KILN_ARCHSPEC_JSON), KILN_ARCHSPEC_JSON);
  return table;
}

}  // namespace kiln::testing
