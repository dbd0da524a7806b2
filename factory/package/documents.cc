#include "factory/package/documents.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/oci/later_document.h"
#include "factory/oci/referrer.h"
#include "factory/sbom/bill.h"
#include "factory/sbom/provenance.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostReport = 1u << 30;
constexpr std::string_view kSlsaProvenance = "https://slsa.dev/provenance/";

bool is_provenance(const std::string& statement) {
  try {
    JsonDocument document = JsonDocument::parse(statement, "statement");
    auto type = document.root().find("predicateType");
    return type && type->string().starts_with(kSlsaProvenance);
  } catch (const Error&) {
    return false;  // too large, or no JSON: another's document
  }
}

std::string_view media_type_of(const std::string& kind) {
  return kind == "spdx"        ? sbom::kSpdxType
         : kind == "cyclonedx" ? sbom::kCycloneDxType
         : kind == kGainKind   ? kGainType
                               : sbom::kProvenanceType;
}

sbom::Bill bill_of(const ImageSpec& spec, const sbom::RecipeOrigin& origin, const sbom::Inventory& inventory,
                   const DocumentFacts& facts) {
  sbom::Bill bill;
  bill.name = spec.repository;
  bill.version = spec.tag;
  if (auto title = spec.labels.find("org.opencontainers.image.title"); title != spec.labels.end())
    bill.description = title->second;
  bill.identity = spec.key;
  bill.created = facts.epoch;
  bill.tool = facts.tool;
  bill.components = sbom::components_of(spec, origin);
  bill.inventory = inventory;
  return bill;
}

}  // namespace

Artifact attach_documents(Artifact artifact, const ImageSpec& spec, const std::string& plan,
                          const sbom::RecipeOrigin& origin, const sbom::Inventory& inventory,
                          const DocumentFacts& facts, const BlobStore& store) {
  sbom::Bill bill = bill_of(spec, origin, inventory, facts);
  auto add = [&](std::string kind, std::string_view type, std::string bytes) {
    Attachment attachment =
        attach({std::move(kind), std::string(type), std::move(bytes)}, artifact.manifest, facts.epoch, store);
    artifact.image.referrers.push_back(referrer_descriptor(attachment, store));
    artifact.record.attachments.push_back(std::move(attachment));
  };
  const Digest& report = artifact.record.evidence.report;
  add("spdx", sbom::kSpdxType, to_spdx(bill));
  add("cyclonedx", sbom::kCycloneDxType, to_cyclonedx(bill));
  add("provenance", sbom::kProvenanceType,
      sbom::to_provenance({spec, plan, origin, artifact.manifest.digest, report, facts.epoch, facts.builder,
                           facts.tool, facts.flag_table}));
  if (!report.empty()) add("evidence", kEvidenceType, store.read(report, kMostReport));
  return artifact;
}

std::optional<std::string> read_referrer(SourceImage& image, const std::string& kind) {
  for (const SourceImage::Referrer& referrer : image.referrers())
    for (const Descriptor& layer : referrer.layers) {
      if (layer.media_type != media_type_of(kind)) continue;
      std::string document = image.attached(layer);
      if (kind != "provenance" || is_provenance(document)) return document;
    }
  return std::nullopt;
}

std::string referrers_text(SourceImage& image, const std::string& name) {
  std::set<std::string> types;
  for (const SourceImage::Referrer& referrer : image.referrers()) types.insert(referrer.type);
  std::string whose = fmt::format("of {} in {}", image.digest().text(), name);
  if (types.empty()) return fmt::format("there are no referrers {}", whose);
  return fmt::format("the referrers {} are {}", whose, fmt::join(types, ", "));
}

std::string make_bill(const SourceImage& image, const std::string& name, const std::string& format,
                      std::int64_t epoch, const std::string& tool) {
  sbom::Bill bill;
  bill.name = name;
  bill.version = image.digest().text();
  bill.identity = image.digest().hex();
  bill.created = epoch;
  bill.tool = tool;
  bill.inventory = sbom::read_inventory(image);
  return format == "spdx" ? sbom::to_spdx(bill) : sbom::to_cyclonedx(bill);
}

}  // namespace kiln
