// Reads SIF files strictly: every count and offset is checked against the file before it is used.
#pragma once

#include <vector>

#include "factory/sif/sif_format.h"

namespace kiln::sif {

inline constexpr std::uint64_t kMostSifDescriptors = 10'000;

struct SifFile {
  SifHeader header;
  std::vector<SifObject> objects;  // those in use, in the table's order

  // The partition that Apptainer runs. Throws Error(input) when there is none.
  const SifObject& primary() const;
  // Throws Error(input) when there is none with this id.
  const SifObject& object(std::uint32_t id) const;
};

// Throws Error(input) naming the header field or the object that is wrong.
SifFile read_sif(const ReadOnlyFile& file);

// Beyond the format: the primary partition's SquashFS superblock is looked at, its tables must lie inside.
void check_primary_partition(const ReadOnlyFile& file, const SifFile& sif);

}  // namespace kiln::sif
