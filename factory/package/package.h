// package: the layers of a finished image → Artifact. Passes over values, in this order:
//
//   examine            what is inside                    examine.h
//   compose            configuration and manifest        artifact.h
//   attach_documents   bills, provenance, evidence       documents.h
//   attach_sif         where the site wants one          sif_pass.h
//
// All blobs are in the store when it returns; a name is given to them by whoever keeps the artifact.
#pragma once

#include "factory/package/artifact.h"
#include "factory/package/documents.h"
#include "factory/package/examine.h"
#include "factory/package/sif_pass.h"

namespace kiln {

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
