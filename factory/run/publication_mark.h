// The state folder as a publication left it, so that a night in which nothing changed publishes nothing: to
// read ten thousand records and entries, and to find them equal, takes half of such a night.
#pragma once

#include <string>

#include "factory/base/effects.h"
#include "factory/plan/build_plan.h"
#include "factory/state/state.h"

namespace kiln {

// <state>/nights/<plan>/published.json.
class PublicationMark {
 public:
  // REQUIRES: all outlive this; the state's lock is held.
  PublicationMark(const BuildPlan& plan, const StatePaths& state, FileSystem& files)
      : plan_(plan), state_(state), files_(files) {}

  // Whether publish_built() of the whole plan would find all as keep() did: the same names for the same bits,
  // and records, index and folder of SIF files that nobody has written since. It says nothing of blobs, tests
  // and damaged bytes. REQUIRES: all images of the plan are built.
  bool is_valid() const;
  void keep() const;  // after a publication. Throws Error(store).

 private:
  fs::path file() const;
  std::string stamp() const;

  const BuildPlan& plan_;
  const StatePaths& state_;
  FileSystem& files_;
};

}  // namespace kiln
