// package: the layers of a finished image → Artifact. Passes over values, in this order:
//
//   examine            what is inside                    examine.h
//   compose            configuration and manifest        artifact.h
//   attach_documents   bills, provenance, evidence       documents.h
//   attach_sif         where the site wants one          sif_pass.h
//
// All blobs are in the store when it returns; the caller that keeps the artifact gives them a name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "factory/oci/blob_store.h"
#include "factory/package/artifact.h"
#include "factory/package/examine.h"

namespace kiln {

// The last pass: the SIF, converted from the image's layers in the store.

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

struct PackageRequest {
  const ImageSpec& image;
  std::string plan;         // its name
  const LayerChain& built;  // what the image's last step left
  const sbom::RecipeOrigin& origin;
  const Microarchitectures& cpus;
  DocumentFacts facts;
  unsigned jobs = 1;
  bool refuse_excess = true;  // code that exceeds its target is not packaged
  bool with_sif = true;
  std::filesystem::path evidence_cache;  // a folder, made when it is needed
  std::filesystem::path evidence_log;    // gets the evidence as people read it, packaged or not
  std::filesystem::path scratch;         // an existing private folder
};

// Throws Error(images_failed) for refused code, Error(input) for damaged layers, Error(store).
Artifact package(const PackageRequest& request, const BlobStore& store, FileSystem& files,
                 Conversions& conversions);

}  // namespace kiln
