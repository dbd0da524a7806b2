#include "factory/cpu/microarchitecture.h"
#include "readers.h"

namespace kiln::fuzz {

const Microarchitectures& some_cpus() {
  static const Microarchitectures cpus =
      Microarchitectures::parse(RealFileSystem().read(KILN_ARCHSPEC_JSON).value(), KILN_ARCHSPEC_JSON);
  return cpus;
}

}  // namespace kiln::fuzz
