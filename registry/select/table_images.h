// The input of a snapshot's table: its images, and the profiles that they share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "registry/index/index_reading.h"

namespace kiln {

struct TableImages {
  struct Image {
    TagName tag;
    std::string name, code;      // of two equal images, the lower is the better
    Digest manifest;             // of a mapping: none
    std::uint32_t choice, host;  // numbers of the profiles below
    bool stale, failing, retired;
    std::shared_ptr<const IndexEntry> measured{};  // accelerators and measurements; nullptr: not measured
  };
  std::vector<Image> images;
  std::vector<ImageRecord> choices, hosts;
};

// As the database has them: parsed when the transaction is over, so that no writer waits for that.
struct RawTableImages {
  struct Record {
    std::size_t image;  // number of table.images
    bool is_mapping;    // else it is measured
    RawEntry entry;
  };
  TableImages table;  // without the names of mappings, and without measurements
  std::vector<Record> records{};
};

// Of one application (in lower case; nullopt: all) in the current snapshot, inside a reading transaction of
// the caller. Of an image that is neither measured nor a mapping, no record is read. nullopt: the rows do not
// have the current snapshot. Throws DamagedDatabase.
std::optional<RawTableImages> table_images(IndexState& state, const std::optional<std::string>& application);
TableImages parsed(RawTableImages raw);
// nullptr: it is not measured.
std::shared_ptr<const IndexEntry> measured_part(const IndexEntry& entry);

}  // namespace kiln
