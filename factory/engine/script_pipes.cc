#include "factory/engine/script_pipes.h"

#include <unistd.h>

namespace kiln {

bool ScriptPipes::has_begun() const {
  char byte = 0;
  return ::read(begun_.end(), &byte, 1) == 1;
}

}  // namespace kiln
