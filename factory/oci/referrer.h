// OCI 1.1 referrers: documents that go with an image. An artifact manifest names the image as its `subject`,
// the kind of document as its `artifactType`, and has the document as its one layer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "factory/oci/blob_store.h"

namespace kiln {

// A file that goes with an image: its SIF, a bill of materials, its provenance.
struct Attachment {
  std::string kind;  // sif, spdx, cyclonedx, provenance, evidence; once in an image
  Descriptor blob;   // in the blob store
  Digest referrer;   // the OCI manifest whose `subject` is the image; empty: it stands alone, as a SIF does
};

// A document to attach.
struct Document {
  std::string kind;  // spdx, cyclonedx, provenance, evidence
  std::string type;  // its media type, and the artifact's
  std::string bytes;
};

// Puts the document, the empty configuration and the artifact manifest into the store. The same document,
// subject and time (seconds since 1970) give the same bytes.
Attachment attach(const Document& document, const Descriptor& subject, std::int64_t created,
                  const BlobStore& store);

// The descriptor of an artifact manifest with these bytes as a list of referrers has it: with artifactType,
// or its configuration's type, and all annotations (distribution-spec, "Pushing Manifests with Subject").
Descriptor referrer_descriptor(const std::string& manifest);
// That of an attachment's, as an index.json has it. REQUIRES: there is one. Throws Error(store).
Descriptor referrer_descriptor(const Attachment& attachment, const BlobStore& store);

// The document that is attached to an image after it was built: the words on its gain over stock.
inline constexpr std::string_view kGainKind = "gain";
inline constexpr std::string_view kGainType = "application/vnd.kiln.gain.v1+json";

// Whether the image's layout, which is written with the image, lacks the attachment.
inline bool is_later_document(const Attachment& attachment) { return attachment.kind == kGainKind; }

}  // namespace kiln
