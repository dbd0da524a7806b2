#include "base/unique_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <random>

namespace kiln {

std::string unique_name() {
  std::random_device random;
  return fmt::format("{}-{:08x}", ::getpid(), random());
}

}  // namespace kiln
