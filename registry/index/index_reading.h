// The answers of Index, inside one reading transaction.
#pragma once

#include "registry/index/index_state.h"

namespace kiln {

[[noreturn]] void no_snapshot(std::int64_t number, std::int64_t newest);  // Error(no_match)

// An entry as the database has it: parsed when the transaction is over.
struct RawEntry {
  TagName name;
  Tagged tagged;
  ImageRow image;
  std::vector<std::string> measurements;
};
IndexEntry parsed(const RawEntry& raw);
RawEntry raw_entry(IndexState& state, TagRow tag);  // of the current snapshot

// A part of records (image_profiles.h). Throws DamagedDatabase when it is missing.
ImageRecord profile_record(IndexState& state, std::int64_t number);

// Which snapshot, and whether its tags are those of the rows that are kept for the current one.
struct Asked {
  CurrentRow current;
  std::int64_t number = 0;  // negative: the current one, which is lost
  bool live = false;
};
Asked asked_for(IndexState& state, std::optional<std::int64_t> snapshot);

// Which entries of a snapshot are read.
struct EntryFilter {
  std::optional<std::string> application{};  // in lower case; nullopt: all
  bool only_measured = false;
};

}  // namespace kiln
