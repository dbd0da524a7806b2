// Which manifest an image reference names today: skopeo asks, the digest is of the bytes that it got.
#pragma once

#include <map>
#include <string>

#include "factory/base/digest.h"
#include "factory/oci/registry_call.h"

namespace kiln {

class RegistryReader {
 public:
  explicit RegistryReader(Skopeo skopeo) : skopeo_(std::move(skopeo)) {}

  // The manifest for linux on `architecture` (OCI's word): the reference's own, or the one that its image
  // index lists; among several variants the one without, else the lowest. A reference is asked for once.
  // Throws Error(input) when there is none for it, and what ask_registry and throw_registry_error
  // throw.
  Digest digest(const std::string& reference, const std::string& architecture);

 private:
  std::string inspect(const std::string& reference, const std::string& what);
  void check_platform(const std::string& reference, const Digest& digest, const std::string& architecture);

  Skopeo skopeo_;
  std::map<std::string, std::string> manifests_;  // bytes by reference
};

}  // namespace kiln
