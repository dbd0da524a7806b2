#include "factory/base/checksummed.h"

#include "factory/base/digest.h"

namespace kiln {
namespace {

std::string proof_of(std::string_view name, std::string_view bytes) {
  Hasher hasher;
  hasher.update(name.data(), name.size());
  hasher.update("\n", 1);
  hasher.update(bytes.data(), bytes.size());
  return hasher.finish().hex() + "\n";
}

}  // namespace

std::string with_checksum(std::string_view name, std::string_view bytes) {
  return proof_of(name, bytes).append(bytes);
}

std::optional<std::string> without_checksum(std::string_view name, std::string text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string proof = text.substr(0, end + 1);
  text.erase(0, end + 1);
  if (proof != proof_of(name, text)) return std::nullopt;
  return text;
}

}  // namespace kiln
