// The evidence of a build: between the tests and the package, from the layers in the store.
#pragma once

#include "image/records.h"
#include "plan/build_plan.h"
#include "registry/image_record.h"
#include "sbom/inventory.h"

namespace kiln {

class Invocation;

// What one pass over the layers finds.
struct BuiltContents {
  EvidenceRecord evidence;
  sbom::Inventory inventory;
};

// Reads the layers, judges them by what the plan declares, and keeps the whole report as a blob of the store
// and, for people, as the log of the image's key. Throws Error(images_failed) when code exceeds the declared
// target and the site says that this fails; Error(input) for damaged layers.
BuiltContents examine_built(const PlannedImage& image, const BuildPlan& plan, const StepRecord& last,
                            Invocation& invocation);

// Leaves the failure record by which `kiln build` explains why an image was not packaged.
void record_image_failure(const PlannedImage& image, const Error& error, double seconds,
                          Invocation& invocation);

}  // namespace kiln
