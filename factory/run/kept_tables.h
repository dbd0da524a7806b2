// Tables of results of other projects, as the state folder keeps them for the performance model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/bench/external_table.h"
#include "factory/state/state.h"

namespace kiln {

// <state>/bench/tables: a file for each series, named by it, so that a newer table of a series replaces the
// older one.
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

}  // namespace kiln
