// How an image was made: SLSA v1 provenance (https://slsa.dev/spec/v1.0/provenance) in an in-toto Statement
// v1. Pure: the same values give the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/oci/documents.h"
#include "factory/recipe/recipe.h"
#include "factory/resolve/resolve.h"
#include "factory/sbom/package.h"

namespace kiln::sbom {

// Facts about recipes that a plan lacks, because they change no bit of an image: licences, homepages, and the
// commit of the recipes. `kiln build` keeps it next to the plan for the steps that package images.
struct RecipeFacts {
  std::string licenses;  // SPDX expression
  std::string homepage;
};

// A git work tree that recipes come from.
struct RecipeRepository {
  std::string uri;        // git+https://…; "" where there is no remote
  std::string commit;     // hex digits
  bool modified = false;  // recipes differ from the commit
  bool operator==(const RecipeRepository&) const = default;
};

struct RecipeOrigin {
  std::map<std::string, RecipeFacts> components;  // by "framework/pytorch"
  std::vector<RecipeRepository> repositories;     // in the order of the recipe roots, each once
};

// Asks git, where there is one, about each folder of recipes. `environment`: of the git process.
RecipeOrigin find_origin(const RecipeBook& recipes, CommandRunner& runner,
                         const std::map<std::string, std::string>& environment);

Json to_json(const RecipeOrigin& origin);
RecipeOrigin recipe_origin_from_json(const JsonNode& node);

inline constexpr std::string_view kProvenanceType = "application/vnd.in-toto+json";
// docs/images.md describes externalParameters and internalParameters.
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

// The components that kiln put into the image, in layering order, for its bill of materials: base, toolchain,
// library, framework, compiler, …, with the source that was downloaded for it where the plan has one.
std::vector<Package> components_of(const ImageSpec& image, const RecipeOrigin& origin);

}  // namespace kiln::sbom
