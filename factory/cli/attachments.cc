#include "cli/attachments.h"

#include <nlohmann/json.hpp>

#include "cli/invocation.h"
#include "image/script.h"
#include "registry/blob_store.h"
#include "sbom/bill.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostDocument = 256u << 20;

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
  if (invocation.files.exists(invocation.state().root() / "index.db"))
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      if (is_called(entry.image, name)) return entry.image;
  return find_built(name, invocation);
}

std::optional<std::string> read_attachment(const ImageRecord& record, const std::string& kind,
                                           Invocation& invocation) {
  const Attachment* attachment = record.attachment(kind);
  if (attachment == nullptr) return std::nullopt;
  return BlobStore(invocation.state().store()).read(attachment->blob.digest, kMostDocument);
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
