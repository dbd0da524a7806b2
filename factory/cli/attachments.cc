#include "cli/attachments.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/invocation.h"
#include "image/script.h"
#include "registry/blob_store.h"
#include "sbom/bill.h"
#include "sbom/provenance.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostDocument = 256u << 20;
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
                               : sbom::kProvenanceType;
}

bool is_called(const ImageRecord& record, const std::string& name) {
  return record.name() == name || record.repository + ":" + record.immutable_tag == name ||
         record.manifest.text() == name || record.cell == name;
}

std::optional<ImageRecord> find_built(const std::string& name, Invocation& invocation) {
  fs::path folder = invocation.state().built_folder();
  for (const std::string& file : invocation.files.list(folder)) {
    auto bytes = file.ends_with(".json") ? invocation.files.read(folder / file) : std::nullopt;
    if (!bytes) continue;
    ImageRecord record = image_record_from_json(JsonDocument::parse(*bytes, (folder / file).string()).root());
    if (is_called(record, name)) return record;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ImageRecord> find_record(const std::string& name, Invocation& invocation) {
  if (invocation.has_index())
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      if (is_called(entry.image, name)) return entry.image;
  return find_built(name, invocation);
}

std::vector<std::string> image_names(Invocation& invocation) {
  std::vector<std::string> names;
  if (invocation.has_index())
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      names.push_back(entry.image.name());
  return names;
}

std::optional<std::string> read_attachment(const ImageRecord& record, const std::string& kind,
                                           Invocation& invocation) {
  const Attachment* attachment = record.attachment(kind);
  if (attachment == nullptr) return std::nullopt;
  return BlobStore(invocation.state().store()).read(attachment->blob.digest, kMostDocument);
}

std::optional<std::string> read_referrer(sif::SourceImage& image, const std::string& kind) {
  for (const sif::SourceImage::Referrer& referrer : image.referrers())
    for (const Descriptor& layer : referrer.layers) {
      if (layer.media_type != media_type_of(kind)) continue;
      std::string document = image.attached(layer);
      if (kind != "provenance" || is_provenance(document)) return document;
    }
  return std::nullopt;
}

std::string referrers_text(sif::SourceImage& image, const std::string& name) {
  std::set<std::string> types;
  for (const sif::SourceImage::Referrer& referrer : image.referrers()) types.insert(referrer.type);
  std::string whose = fmt::format("of {} in {}", image.digest().text(), name);
  if (types.empty()) return fmt::format("there are no referrers {}", whose);
  return fmt::format("the referrers {} are {}", whose, fmt::join(types, ", "));
}

std::string make_bill(const sif::SourceImage& image, const std::string& name, const std::string& format,
                      Invocation& invocation) {
  sbom::Bill bill;
  bill.name = name;
  bill.version = image.digest().text();
  bill.identity = image.digest().hex();
  bill.created = source_date_epoch(invocation.environment);
  bill.tool = KILN_VERSION;
  bill.inventory = sbom::read_inventory(image);
  return format == "spdx" ? sbom::to_spdx(bill) : sbom::to_cyclonedx(bill);
}

}  // namespace kiln
