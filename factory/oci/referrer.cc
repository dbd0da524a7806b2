#include "factory/oci/referrer.h"

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"

namespace kiln {

Attachment attach(const Document& document, const Descriptor& subject, std::int64_t created,
                  const BlobStore& store) {
  Attachment attachment;
  attachment.kind = document.kind;
  attachment.blob = store.put(document.bytes, document.type);
  Manifest manifest;
  manifest.config = store.put("{}", std::string(media_type::kEmpty));
  Descriptor layer = attachment.blob;
  layer.annotations["org.opencontainers.image.title"] = document.kind + ".json";
  manifest.layers = {layer};
  manifest.artifact_type = document.type;
  manifest.subject = Descriptor{subject.media_type, subject.digest, subject.size, {}};
  manifest.annotations["org.opencontainers.image.created"] = rfc3339(created);
  attachment.referrer = store.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
  return attachment;
}

Descriptor referrer_descriptor(const std::string& manifest) {
  const Manifest read = manifest_from_json(JsonDocument::parse(manifest, "a referrer").root());
  return {std::string(media_type::kManifest), Digest::of(manifest), manifest.size(), read.annotations,
          read.artifact_type.empty() ? read.config.media_type : read.artifact_type};
}

Descriptor referrer_descriptor(const Attachment& attachment, const BlobStore& store) {
  return referrer_descriptor(store.read(attachment.referrer));
}

}  // namespace kiln
