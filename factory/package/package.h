// package: the layers of a finished image → Artifact. Passes over values, in this order:
//
//   examine            what is inside (examine.h)
//   compose            configuration and manifest
//   attach_documents   bills, provenance, evidence
//   attach_sif         if the site file requests one
//
// All blobs are in the store when it returns; the caller that keeps the artifact gives them a name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "factory/oci/blob_store.h"
#include "factory/oci/image_source.h"
#include "factory/oci/layout.h"
#include "factory/package/examine.h"
#include "factory/record/image_record.h"
#include "factory/resolve/resolve.h"
#include "factory/sbom/inventory.h"
#include "factory/sbom/provenance.h"

namespace kiln {

// The record of an image as declared, before its contents are examined. Packaging begins with it. It also
// shows what a cell would answer that is not built.
//
// It has the names, the choice, the facts, the labels and the needs of the host. `architecture`: OCI's, as
// the image's configuration has it ("amd64"). `glibc`: the version found in the image; "" before the
// examination, when the components' facts count. Layers, manifest, evidence and time are empty.
ImageRecord declared_record(const ImageSpec& spec, const std::string& architecture,
                            const std::string& glibc = "");

// The package of an image of the plan. It is composed once and goes from pass to pass.
struct Artifact {
  LayoutImage image;    // input of write_layout; `referrers`: the documents attached so far
  Descriptor manifest;  // of the image; what is attached does not change it
  ImageRecord record;   // for the index; the caller that keeps the image sets `layout`
};

// The image of these layers: the base's configuration, then the recipe's environment, labels and command. The
// same spec, layers, time and evidence give the same bytes; the evidence, which follows from the layers, is
// in the labels (io.kiln.evidence.*), too. `epoch`: seconds since 1970.
Artifact compose(const ImageSpec& spec, const LayerChain& built, EvidenceRecord evidence, std::int64_t epoch);

// The third pass: bills of materials, provenance and the evidence report, each a referrer of the image. And
// the way back: such documents read from images, whatever made them.
inline constexpr std::string_view kEvidenceType = "application/vnd.kiln.evidence.v1+json";

// Author and time of a document.
struct DocumentFacts {
  std::int64_t epoch = 0;  // seconds since 1970
  std::string tool;        // version of kiln
  std::string flag_table;  // version of archspec's tables
  std::string builder;     // the site's URI
};

// The artifact with its documents in the store. `plan`: its name; `origin`: of its recipes.
Artifact attach_documents(Artifact artifact, const ImageSpec& spec, const std::string& plan,
                          const sbom::RecipeOrigin& origin, const sbom::Inventory& inventory,
                          const DocumentFacts& facts, const BlobStore& store);

// The document of that kind (spdx, cyclonedx, provenance, gain) that goes with an image in its layout: one
// artifact of the kind's media type, provenance by its predicate's. nullopt when there is none.
std::optional<std::string> read_referrer(SourceImage& image, const std::string& kind);

// Where read_referrer looked, and what it found instead: for a hint. `name`: of the image.
std::string referrers_text(SourceImage& image, const std::string& name);

// A bill of materials of any image, from its layers. `format`: spdx or cyclonedx; `tool`: version of kiln.
std::string make_bill(const SourceImage& image, const std::string& name, const std::string& format,
                      std::int64_t epoch, const std::string& tool);

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
  const LayerChain& built;  // layers of the image's last step
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
