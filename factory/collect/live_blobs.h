// The blobs that the roots need.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/collect/roots.h"

namespace kiln {

struct LiveBlobs {
  std::set<Digest> blobs;
  std::set<std::string> steps;         // keys of the steps that stay
  std::map<Digest, std::string> dead;  // what blobs are to images and steps that go: "layer 2 of hello:2.1-…"
  std::vector<std::string> notes;
};

// `linked`: further folders whose links into the store count, such as those of SIF names. Throws Error(store)
// as survey() does.
LiveBlobs live_blobs(const Roots& roots, const std::set<fs::path>& linked, const CollectSetup& setup);

// "hello:2.1-…-75869f925a83"; of a mapping what it refers to.
std::string title_of(const ImageRecord& image);

}  // namespace kiln
