#include "factory/base/unique_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <random>

namespace kiln {

std::string unique_name() {
  std::random_device random;
  return fmt::format("{}-{:08x}", ::getpid(), random());
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

}  // namespace kiln
