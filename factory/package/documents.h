// The third pass: bills of materials, provenance and the evidence report, each a referrer of the image. And
// the way back: such documents read from images by whoever made them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "factory/oci/image_source.h"
#include "factory/package/artifact.h"
#include "factory/resolve/resolve.h"
#include "factory/sbom/inventory.h"
#include "factory/sbom/provenance.h"

namespace kiln {

inline constexpr std::string_view kEvidenceType = "application/vnd.kiln.evidence.v1+json";

// Who says so, and when.
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

}  // namespace kiln
