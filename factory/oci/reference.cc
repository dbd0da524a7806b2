#include "factory/oci/reference.h"

#include <algorithm>
#include <array>

namespace kiln {
namespace {

constexpr std::string_view kDocker = "docker://";

// The end of the name: where its tag or digest begins. A colon before the last slash belongs to a port.
std::size_t name_end(std::string_view plain) {
  std::size_t end = std::min(plain.find('@'), plain.size());
  std::size_t colon = plain.substr(0, end).rfind(':');
  std::size_t slash = plain.substr(0, end).rfind('/');
  bool tagged = colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return tagged ? colon : end;
}

std::string_view plain_of(std::string_view reference) {
  return reference.starts_with(kDocker) ? reference.substr(kDocker.size()) : reference;
}

}  // namespace

bool is_in_registry(std::string_view reference) {
  constexpr std::array<std::string_view, 4> kLocal = {"oci:", "oci-archive:", "docker-archive:", "dir:"};
  return std::ranges::none_of(kLocal,
                              [&](std::string_view transport) { return reference.starts_with(transport); });
}

std::string repository_name(std::string_view reference) {
  std::string_view plain = plain_of(reference);
  return std::string(plain.substr(0, name_end(plain)));
}

std::string tag_of(std::string_view reference) {
  if (!is_in_registry(reference)) return "";
  std::string_view plain = plain_of(reference);
  plain = plain.substr(0, plain.find('@'));
  const std::size_t end = name_end(plain);
  return std::string(end < plain.size() ? plain.substr(end + 1) : "");
}

std::string pinned_reference(std::string_view reference, const Digest& digest) {
  return repository_name(reference) + "@" + digest.text();
}

std::string without_tag_beside_digest(std::string_view reference) {
  std::size_t at = reference.find('@');
  if (at == std::string_view::npos || !is_in_registry(reference)) return std::string(reference);
  std::string transport(reference.starts_with(kDocker) ? kDocker : std::string_view());
  return transport + repository_name(reference) + std::string(reference.substr(at));
}

}  // namespace kiln
