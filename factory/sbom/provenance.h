// How an image was made: SLSA v1 provenance (https://slsa.dev/spec/v1.0/provenance) in an in-toto Statement
// v1. Pure: the same values give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "factory/oci/documents.h"
#include "factory/resolve/resolve.h"
#include "factory/sbom/package.h"
#include "factory/sbom/recipe_origin.h"

namespace kiln::sbom {

inline constexpr std::string_view kProvenanceType = "application/vnd.in-toto+json";
// What externalParameters and internalParameters mean: docs/images.md.
inline constexpr std::string_view kBuildType = "urn:kiln:build-type:image:v1";

struct ProvenanceInput {
  const ImageSpec& image;
  std::string matrix;  // its name
  const RecipeOrigin& origin;
  Digest manifest;         // of the image: the statement's subject
  Digest evidence;         // of the report, a byproduct; empty = none
  std::int64_t created;    // SOURCE_DATE_EPOCH
  std::string builder;     // the site's URI
  std::string tool;        // version of kiln
  std::string flag_table;  // version of archspec's tables
};

std::string to_provenance(const ProvenanceInput& input);

// What kiln put into the image, in layering order, for its bill of materials: base, toolchain, library,
// framework, compiler, …, with the source that was downloaded for it where the plan has one.
std::vector<Package> components_of(const ImageSpec& image, const RecipeOrigin& origin);

}  // namespace kiln::sbom
