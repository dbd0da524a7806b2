// What pages are called, and what images are called on them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/record/image_record.h"
#include "registry/index/index.h"

namespace kiln {

// A name as one part of a path that every file system and every URL takes as it is: the name itself where it
// is of [a-z0-9._-], else what is left of it, "~" and twelve digits of its SHA-256, so that no two names
// share a file, not even where upper case is lower case.
std::string file_word(std::string_view name);

// "images/pytorch/2.6.0-distro-x86_64.html"; "mappings/<code>.html" of a mapping.
std::string image_path(const ImageRecord& image);
std::string night_path(std::string_view matrix, std::int64_t number);

// From a page at `path` up to the folder of all: "../../", "" for index.html.
std::string way_up(std::string_view path);

// What an image is called among these: several mappings may have one reference.
class PageNames {
 public:
  explicit PageNames(const std::vector<IndexEntry>& entries);
  std::string operator()(const ImageRecord& image) const { return names_(image); }

 private:
  DistinctNames names_;
};

}  // namespace kiln
