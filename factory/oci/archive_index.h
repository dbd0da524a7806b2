// Where the files of an uncompressed tar archive lie, so that an image inside one is read in place.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "factory/oci/blob.h"
#include "factory/oci/tar_reader.h"

namespace kiln {

class ArchiveIndex {
 public:
  // Reads the headers only. `file` outlives the index. Throws Error(input) for an invalid tar archive.
  explicit ArchiveIndex(const ReadOnlyFile& file);

  // The file of this name; links are followed inside the archive. Throws Error(input) if it is missing.
  BlobSection find(std::string_view name) const;
  bool contains(std::string_view name) const;

 private:
  void add(const TarMember& member, const BlobSection& section);
  const ReadOnlyFile& file_;
  std::map<std::string, BlobSection, std::less<>> files_;
  std::map<std::string, std::string, std::less<>> links_;
};

// Archives of images as `docker save | gzip` makes them. Only for image_source.cc.

// The file itself, or, of a compressed one (gzip, zstd, xz, bzip2), its decompressed bytes: in a file without
// a name below $TMPDIR, which ends with the process. Throws Error(input) for damaged input and for more bytes
// than a layer may have, and Error(store) without room.
std::unique_ptr<ReadOnlyFile> open_archive(const fs::path& path);

}  // namespace kiln
