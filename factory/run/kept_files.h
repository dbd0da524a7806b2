// The files of the state folder that are neither of the store nor of the index: plans, results of tunings,
// tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/bench/external_table.h"
#include "factory/record/tuned_record.h"
#include "factory/state/state.h"

namespace kiln {

// Tables of results of other projects, for the performance model, in <state>/bench/tables: a file for each
// series, named by it, so that a newer table of a series replaces the older one.
class KeptTables {
 public:
  // REQUIRES: both outlive this.
  KeptTables(const StatePaths& state, FileSystem& files) : state_(state), files_(files) {}

  // Writes all tables, or none where one cannot be written: those before it are then as they were. Returns
  // the series that it replaced. Throws Error(store).
  std::vector<std::string> put(std::span<const ExternalTable> tables);
  // One table. True: it replaces an earlier one of its series.
  bool put(const ExternalTable& table) { return !put({&table, 1}).empty(); }
  // False if there is no table of this series (TableFacts::series()).
  bool remove(const std::string& series);
  // By their series. Throws Error(store) with the file that kiln did not write, or that was changed.
  std::vector<ExternalTable> all() const;

 private:
  const StatePaths& state_;
  FileSystem& files_;
};

// The result of a tuning. Throws Error(store) if kiln did not write the file.
TunedRecord read_tuned(const fs::path& file, const FileSystem& files);

// An error for each plan and each result that kiln cannot read, and for the first table. A table is held
// against its sum. Plans and results have none, so that another letter in a text of theirs is not found.
std::vector<Error> kept_damage(const StatePaths& state, FileSystem& files);

}  // namespace kiln
