// What an image is answered with: a reference that other programs take, or the path of a file.
#pragma once

#include <filesystem>
#include <string>

#include "factory/record/image_record.h"

namespace kiln {

// Whose images they are, and where their SIFs are shown.
struct ReferencePaths {
  std::filesystem::path state;         // the state folder, absolute
  std::filesystem::path sif_folder{};  // $SINGULARITY_DIR; "" = the state's own
};

// The formats that references are asked for in: tag, digest, oci, sif.
bool is_reference_format(std::string_view word);

// The tag in a registry, else the name in the index; the digest in a registry; `oci:DIR:TAG`; the path of the
// SIF, or `oras://…` for a SIF that is only in a registry. A mapping is its reference, whatever the format.
// Throws Error(store) when what it names is damaged, Error(no_match) for the digest of what is in no
// registry.
std::string reference_of(const ImageRecord& image, const std::string& format, const ReferencePaths& paths);

// The path of its SIF in the store, under its digest: no later publication puts another there. REQUIRES: it
// has one.
std::string stored_sif(const ImageRecord& image, const ReferencePaths& paths);

}  // namespace kiln
