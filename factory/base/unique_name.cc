#include "factory/base/unique_name.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "factory/base/error.h"

namespace kiln {

// The process id alone is not unique: in a container that is started again, kiln has the same one again.
std::string unique_name() {
  std::uint32_t random = 0;
  ssize_t got;
  do got = ::getrandom(&random, sizeof random, 0);
  while (got < 0 && errno == EINTR);
  if (got != sizeof random)
    throw Error(ExitCode::store, fmt::format("the kernel gives no random bytes: {}", std::strerror(errno)));
  return fmt::format("{}-{:08x}", ::getpid(), random);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

}  // namespace kiln
