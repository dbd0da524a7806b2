// The referrer of an image with the words of its gain over stock. kiln publish attaches it, because the words
// come from measurements, and those come after the image was built.
#pragma once

#include <vector>

#include "factory/oci/blob_store.h"
#include "factory/record/image_record.h"
#include "registry/index/index.h"

namespace kiln {

// Gives each record that claims more than stock the attachment "gain", in place of an earlier one, if its
// application was measured anywhere. `published`: the entries of the current snapshot, with the measurements
// that count. Equal measurements give equal bytes. Throws Error(store).
void attach_gain_words(std::vector<ImageRecord>& records, const std::vector<IndexEntry>& published,
                       const BlobStore& store);

}  // namespace kiln
