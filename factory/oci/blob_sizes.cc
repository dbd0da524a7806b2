#include "oci/blob_sizes.h"

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

BlobSizes::BlobSizes(const BlobStore& store) : root_(store.root() / "sha256") { folders_.fill(kNotOpened); }

BlobSizes::~BlobSizes() {
  for (int folder : folders_)
    if (folder >= 0) ::close(folder);
}

int BlobSizes::folder(unsigned char first) {
  int& folder = folders_[first];
  if (folder != kNotOpened) return folder;
  const std::string name = hex_of({first}).substr(0, 2);
  folder = ::open((root_ / name).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) folder = kMissing;
  return folder;
}

std::optional<std::uint64_t> BlobSizes::of(const Sha256& sum) {
  int in = folder(sum[0]);
  if (in < 0) return std::nullopt;
  std::string name;
  append_hex(name, sum);
  struct stat status {};
  if (::fstatat(in, name.c_str(), &status, 0) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace kiln
