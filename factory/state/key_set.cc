#include "factory/state/key_set.h"

#include <dirent.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

namespace kiln {
namespace {

std::optional<Sha256> key_in(std::string_view file) {
  constexpr std::string_view kOfKeys = ".json";
  Sha256 key{};
  if (file.size() != 2 * key.size() + kOfKeys.size() || !file.ends_with(kOfKeys)) return std::nullopt;
  auto value = [&](std::size_t at) {
    const char digit = file[at];
    if (digit >= '0' && digit <= '9') return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < key.size(); ++i) {
    const int high = value(2 * i);
    const int low = value(2 * i + 1);
    if (high < 0 || low < 0) return std::nullopt;
    key[i] = static_cast<unsigned char>(16 * high + low);
  }
  return key;
}

}  // namespace

KeySet::Bits KeySet::bits_of(const Sha256& key) {
  Bits bits;
  std::memcpy(&bits.first, key.data(), sizeof bits.first);
  std::memcpy(&bits.second, key.data() + sizeof bits.first, sizeof bits.second);
  return bits;
}

KeySet::KeySet(const std::filesystem::path& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return;
  while (const dirent* entry = ::readdir(open.get()))
    if (auto key = key_in(entry->d_name)) keys_.push_back(bits_of(*key));
  std::sort(keys_.begin(), keys_.end());
}

bool KeySet::contains(const Sha256& key) const {
  return std::binary_search(keys_.begin(), keys_.end(), bits_of(key));
}

}  // namespace kiln
