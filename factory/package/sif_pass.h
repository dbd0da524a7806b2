// The last pass: the SIF, converted from the image's layers in the store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "factory/oci/blob_store.h"
#include "factory/package/artifact.h"

namespace kiln {

// SIF files made before: the same image and options need no other.
class Conversions {
 public:
  virtual ~Conversions() = default;
  virtual std::optional<Descriptor> find(const std::string& key) const = 0;
  virtual void keep(const std::string& key, const Descriptor& sif) = 0;
};

struct SifFacts {
  std::int64_t epoch = 0;         // seconds since 1970: its own times, none is later
  std::string tool;               // version of kiln
  unsigned jobs = 1;              // compressing threads; the bits do not depend on them
  std::filesystem::path scratch;  // an existing private folder
};

// The artifact with its SIF as an attachment, in the store: read again whole before it is published. Throws
// Error(input) for damaged layers, Error(store) for a SIF that does not read back.
Artifact attach_sif(Artifact artifact, const SifFacts& facts, const BlobStore& store,
                    Conversions& conversions);

}  // namespace kiln
