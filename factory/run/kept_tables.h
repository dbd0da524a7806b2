// Tables of results of other projects, as the state folder keeps them for the performance model.
#pragma once

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

  // Writes the whole table or nothing.
  // True: it replaces an earlier table of its series.
  bool put(const ExternalTable& table);
  // False if there is no table of this series (TableFacts::series()).
  bool remove(const std::string& series);
  // By their series. Throws Error(store) with the file that kiln did not write, or that was changed.
  std::vector<ExternalTable> all() const;

 private:
  const StatePaths& state_;
  FileSystem& files_;
};

}  // namespace kiln
