// What TensorFlow's releases need of other software: the table of data/tensorflow.json.
#pragma once

#include <optional>
#include <string>

#include "factory/base/version.h"

namespace kiln::lint {

// Whether the wheel of this release takes every later protobuf.
bool takes_any_protobuf(const Version& tensorflow);

// The Python that a base image calls python3, "3.6"; "" where it is not known.
std::string python_of_base(const std::string& reference);

// The Bazel releases that a release or a branch of TensorFlow is built with.
struct BazelRange {
  Version first;
  Version last;
  bool derived = false;  // no upstream file says it: concluded from the releases beside it
};
std::optional<BazelRange> bazel_for(const Version& tensorflow);

}  // namespace kiln::lint
