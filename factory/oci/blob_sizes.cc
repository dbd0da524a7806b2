#include "factory/oci/blob_sizes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln {

Sha256 sum_of(const Digest& digest) {
  auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  const std::string& hex = digest.hex();
  Sha256 sum{};
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] = static_cast<unsigned char>(16 * value(hex[2 * i]) + value(hex[2 * i + 1]));
  return sum;
}

BlobSizes::BlobSizes(const BlobStore& store)
    : folder_(::open((store.root() / "sha256").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

BlobSizes::~BlobSizes() {
  if (folder_ >= 0) ::close(folder_);
}

std::optional<std::uint64_t> BlobSizes::of(const Sha256& sum) const {
  std::string name;
  name.reserve(3 + 2 * sum.size());
  append_hex(name, sum);
  name.insert(0, {name[0], name[1], '/'});
  struct stat status {};
  if (::fstatat(folder_, name.c_str(), &status, 0) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace kiln
