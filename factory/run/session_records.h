// What the index says of measured sessions: the figures of their runs (bench/session.h), as long as these are
// kept.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/bench/run.h"
#include "registry/index/index.h"

namespace kiln {

class SessionRecords {
 public:
  explicit SessionRecords(Index& index);  // REQUIRES: it outlives this

  const IndexEntry* find(const std::string& key) const;  // by the bits; nullptr: it is not in the index

  // Records the figures of these runs in place of earlier ones of the same sessions, and withdraws those that
  // are only of runs in `gone`. Returns how many images of the index have a figure in these sessions. `kept`:
  // all that are kept of their sessions.
  std::size_t put(const std::vector<BenchRun>& kept, const std::vector<BenchRun>& gone = {});

 private:
  void record(IndexEntry& entry, Measurement measurement);
  void withdraw(IndexEntry& entry, const BenchRun& gone);

  Index& index_;
  std::map<std::string, IndexEntry> entries_;  // by the bits, which several names may have
};

// Of all kept runs those whose session one of `some` is of.
std::vector<BenchRun> of_their_sessions(const std::vector<BenchRun>& kept, const std::vector<BenchRun>& some);

}  // namespace kiln
