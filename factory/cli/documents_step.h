// The documents of a build: what goes with an image as OCI referrers, made between its evidence and its
// package.
#pragma once

#include <vector>

#include "image/records.h"
#include "plan/build_plan.h"
#include "registry/image_record.h"
#include "sbom/inventory.h"
#include "sbom/recipe_origin.h"

namespace kiln {

class Invocation;

// For the packaging steps of a plan: what the plan itself does not hold (sbom/recipe_origin.h).
void keep_recipe_origin(const std::string& plan, const RecipeBook& recipes, Invocation& invocation);

// Bills of materials, provenance and the evidence report, in the store with their artifact manifests.
// `plan`: of this one image.
std::vector<Attachment> attach_documents(const BuildPlan& plan, const StepRecord& last,
                                         const EvidenceRecord& evidence, const sbom::Inventory& inventory,
                                         Invocation& invocation);

}  // namespace kiln
