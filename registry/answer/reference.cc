#include "registry/answer/reference.h"

#include <fmt/format.h>

#include "factory/record/image_blobs.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

std::string digest_reference(const ImageRecord& image) {
  if (!image.published.registry.empty()) return image.registry_digest();
  throw Error(ExitCode::no_match, image.name() + " is in no registry",
              "`kiln publish --to` puts it there; --format oci names its layout here");
}

std::string sif_reference(const ImageRecord& image, const ReferencePaths& paths) {
  const Attachment* sif = image.attachment("sif");
  const bool is_here = sif != nullptr && fs::exists(stored_sif(image, paths));
  if (!is_here && !image.registry_sif().empty()) return image.registry_sif();
  const fs::path file =
      paths.sif_folder.empty() ? sif_path(paths.state, image) : paths.sif_folder / image.sif_name();
  check_sif(paths.state, image, file);
  return file.string();
}

}  // namespace

std::string stored_sif(const ImageRecord& image, const ReferencePaths& paths) {
  return BlobStore::reading(paths.state / "store").path(image.attachment("sif")->blob.digest).string();
}

bool is_reference_format(std::string_view word) {
  return word == "tag" || word == "digest" || word == "oci" || word == "sif";
}

std::string reference_of(const ImageRecord& image, const std::string& format, const ReferencePaths& paths) {
  if (image.external()) return image.name();
  if (format == "oci") {
    check_layout(paths.state, image);
    return fmt::format("oci:{}:{}", (paths.state / image.layout).string(), image.tag);
  }
  if (format == "digest") return digest_reference(image);
  if (format == "sif") return sif_reference(image, paths);
  if (!image.published.registry.empty()) return image.registry_tag();
  check_blobs(paths.state, image);
  return image.name();
}

}  // namespace kiln
