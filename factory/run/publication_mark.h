// The state folder as a publication left it, so that a night in which nothing changed publishes nothing: to
// read ten thousand records and entries, and to find them equal, takes half of such a night.
#pragma once

#include <string>

#include "factory/base/effects.h"
#include "factory/plan/build_plan.h"
#include "factory/state/state.h"

namespace kiln {

// <state>/nights/<plan>/published.json. Valid for a week at most, after which all records are read again.
class PublicationMark {
 public:
  // REQUIRES: all outlive this; the state's lock is held.
  PublicationMark(const BuildPlan& plan, const StatePaths& state, FileSystem& files, const Clock& clock)
      : plan_(plan), state_(state), files_(files), clock_(clock) {}

  // Whether publish_built() of the whole plan would find everything as keep() did: the plan has the same
  // names for the same bits, and no process has written records, index or the folder of SIF files since.
  // Blobs, tests and flipped bits are not looked at. REQUIRES: all images of the plan are built.
  bool is_valid() const;
  // After a publication. If it cannot be written, the next night publishes again.
  void keep() const;

 private:
  fs::path file() const;
  std::string stamp() const;

  const BuildPlan& plan_;
  const StatePaths& state_;
  FileSystem& files_;
  const Clock& clock_;
};

}  // namespace kiln
