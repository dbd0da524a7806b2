// Tests of built images that are run again: those that could not run where the images were built, or all.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "factory/plan/build_plan.h"
#include "factory/state/record_store.h"

namespace kiln {

// What is known of one test of one image.
struct TestState {
  std::string image;      // reference
  std::string test;       // its step's title
  std::string result;     // "passed", "failed: …", "not run: …", "not reached"
  std::string machine{};  // where it ran; "" unless it ran to its end
  std::string taken{};    // RFC 3339; the same
  bool run_now = false;
};

// The arguments outlive it; `state` is locked for writing.
class TestRerun {
 public:
  TestRerun(const BuildPlan& plan, const StatePaths& state, FileSystem& files)
      : plan_(&plan), state_(&state), files_(&files) {}

  // Those of `chosen` that are packaged. The references of the others go to `unbuilt`.
  ImageNumbers packaged(const ImageNumbers& chosen, std::vector<std::string>& unbuilt) const;
  // The images with a test to run: one that was not run to its end, or any if `again`. Removes the records of
  // these tests, so that a build runs them.
  ImageNumbers begin(const ImageNumbers& images, bool again);
  // In the order of the images and of their tests.
  std::vector<TestState> states(const ImageNumbers& images) const;

 private:
  const BuildPlan* plan_;
  const StatePaths* state_;
  FileSystem* files_;
  std::set<std::string> begun_;  // keys of tests
};

}  // namespace kiln
