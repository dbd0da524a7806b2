#include "factory/cli/attachments.h"

#include "factory/cli/invocation.h"
#include "factory/oci/blob_store.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostDocument = 256u << 20;

bool is_called(const ImageRecord& record, const std::string& name) {
  return record.name() == name || record.repository + ":" + record.immutable_tag == name ||
         record.manifest.text() == name || record.cell == name;
}

}  // namespace

std::optional<ImageRecord> find_record(const std::string& name, Invocation& invocation) {
  if (invocation.has_index())
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      if (is_called(entry.image, name)) return entry.image;
  const StatePaths state = invocation.state();
  return RecordReader(state, invocation.files).find_image([&](const ImageRecord& image) {
    return is_called(image, name);
  });
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

}  // namespace kiln
