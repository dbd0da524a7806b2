#include "cli/documents_step.h"

#include <nlohmann/json.hpp>

#include "cli/invocation.h"
#include "image/package.h"
#include "image/script.h"
#include "registry/referrer.h"
#include "sbom/bill.h"
#include "sbom/provenance.h"

namespace kiln {
namespace {

constexpr std::string_view kEvidenceType = "application/vnd.kiln.evidence.v1+json";
constexpr std::uint64_t kMostReport = 1u << 30;

// A state folder of an older kiln has none.
sbom::RecipeOrigin recipe_origin(const std::string& plan, Invocation& invocation) {
  fs::path file = invocation.state().recipe_origin(plan);
  auto bytes = invocation.files.read(file);
  if (!bytes) return {};
  return sbom::recipe_origin_from_json(JsonDocument::parse(*bytes, file.string()).root());
}

sbom::Bill bill_of(const BuildPlan& plan, const sbom::RecipeOrigin& origin, const sbom::Inventory& inventory,
                   std::int64_t epoch) {
  const ImageSpec& spec = plan.images.front().spec;
  sbom::Bill bill;
  bill.name = spec.repository;
  bill.version = spec.tag;
  if (auto title = spec.labels.find("org.opencontainers.image.title"); title != spec.labels.end())
    bill.description = title->second;
  bill.identity = spec.key;
  bill.created = epoch;
  bill.tool = KILN_VERSION;
  bill.components = sbom::components_of(plan, origin);
  bill.inventory = inventory;
  return bill;
}

}  // namespace

void keep_recipe_origin(const std::string& plan, const RecipeBook& recipes, Invocation& invocation) {
  sbom::RecipeOrigin origin = sbom::find_origin(recipes, invocation.runner, invocation.child_environment());
  invocation.files.write(invocation.state().recipe_origin(plan), to_json(origin).dump(1) + "\n");
}

std::vector<Attachment> attach_documents(const BuildPlan& plan, const StepRecord& last,
                                         const EvidenceRecord& evidence, const sbom::Inventory& inventory,
                                         Invocation& invocation) {
  BlobStore store(invocation.state().store());
  std::int64_t epoch = source_date_epoch(invocation.environment);
  Descriptor subject = manifest_descriptor(compose_image(plan.images.front().spec, last, epoch, evidence));
  sbom::RecipeOrigin origin = recipe_origin(plan.name, invocation);
  sbom::Bill bill = bill_of(plan, origin, inventory, epoch);
  std::vector<Attachment> attachments;
  auto add = [&](std::string kind, std::string_view type, std::string bytes) {
    attachments.push_back(
        attach({std::move(kind), std::string(type), std::move(bytes)}, subject, epoch, store));
  };
  add("spdx", sbom::kSpdxType, to_spdx(bill));
  add("cyclonedx", sbom::kCycloneDxType, to_cyclonedx(bill));
  add("provenance", sbom::kProvenanceType,
      sbom::to_provenance({plan, origin, subject.digest, evidence.report, epoch, invocation.site().builder,
                           KILN_VERSION, invocation.archspec_version()}));
  if (!evidence.report.empty()) add("evidence", kEvidenceType, store.read(evidence.report, kMostReport));
  return attachments;
}

}  // namespace kiln
