// package: a finished image step → OCI manifest, config, image layout folder, ImageRecord.
#pragma once

#include "image/oci_layout.h"
#include "image/records.h"
#include "image/state.h"
#include "plan/resolve.h"
#include "registry/blob_store.h"
#include "registry/image_record.h"

namespace kiln {

// What package_image will write, without its attachments: their subject is manifest_descriptor() of this.
LayoutImage compose_image(const ImageSpec& spec, const StepRecord& last, std::int64_t epoch,
                          const EvidenceRecord& evidence);

// Writes config and manifest to the store, the layout folder (oci-layout, index.json, blobs hard-linked; made
// aside and renamed) and built/<image key>.json. The same spec, layers and evidence give the same bytes; the
// evidence, which follows from the layers, is in the labels (io.kiln.evidence.*), too. `attachments` are
// blobs that are in the store already; those with a referrer are in the layout, too.
ImageRecord package_image(const ImageSpec& spec, const StepRecord& last, const StatePaths& state,
                          const BlobStore& store, FileSystem& files, std::int64_t epoch,
                          const EvidenceRecord& evidence = {}, std::vector<Attachment> attachments = {});

}  // namespace kiln
