// OCI image layouts (image-spec image-layout.md): folders that skopeo, buildah, podman and apptainer read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/oci/blob_store.h"
#include "factory/oci/documents.h"

namespace kiln {

// An image whose layers are in a blob store.
struct LayoutImage {
  ImageConfig config;
  std::vector<Descriptor> layers;
  std::map<std::string, std::string> annotations;  // of the manifest
  std::string tag;                                 // org.opencontainers.image.ref.name
  // Artifact manifests in the store whose subject is this image; also listed in index.json, untagged.
  std::vector<Descriptor> referrers{};
};

// The manifest that write_layout will write.
Manifest manifest_of(const LayoutImage& image);

// The blobs that write_layout made; both are also in the store.
struct LayoutDescriptors {
  Descriptor manifest;
  Descriptor config;
};

// The descriptor of the manifest that write_layout will make.
Descriptor manifest_descriptor(const LayoutImage& image);

// Writes config and manifest to the store and an image layout of them to `folder`, replacing what is there:
// made aside and renamed. Blobs are hard links into the store where the file system allows it, else copies.
LayoutDescriptors write_layout(const fs::path& folder, const LayoutImage& image, const BlobStore& store,
                               FileSystem& files);

// Contents of a layout's index.
struct LayoutIndex {
  Descriptor manifest;
  std::string tag;
  std::vector<Descriptor> referrers;
};
// The layout again, of an image whose blobs are all in the store. Throws Error(store).
void write_layout_again(const fs::path& folder, const LayoutIndex& index, const BlobStore& store,
                        FileSystem& files);
// Whether the layout's own two files are as they were written.
bool says(const fs::path& folder, const LayoutIndex& index);

// Checks a layout without reading its blobs. "" if its index is readable and the layout has, with their
// sizes, these blobs and those that the index names; else the damage: "has no blobs/sha256/…".
std::string layout_damage(const fs::path& folder, const std::vector<Descriptor>& blobs);

// The manifests that a layout's index names; nothing for a layout without an index that can be read.
std::vector<Descriptor> layout_manifests(const fs::path& folder);

// The one image of a layout that an engine pulled; what only goes with an image does not count. Throws
// Error(store) for a layout that holds none, or several.
struct PulledImage {
  Manifest manifest;
  ImageConfig config;
};
PulledImage read_layout(const fs::path& folder, const FileSystem& files);

// blobs/sha256/<hex>
fs::path blob_in_layout(const fs::path& folder, const Digest& digest);

// OCI 1.1 referrers: documents that go with an image. An artifact manifest names the image as its `subject`,
// the kind of document as its `artifactType`, and has the document as its one layer.

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
