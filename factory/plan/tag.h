// The parts of a tag that images share. Used by resolve only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/resolve.h"

namespace kiln {

// `<version>-<method>[-<library>…]…[-<optimise>]` and `<os>`: what stands before and after the target.
struct TagParts {
  std::string head;
  std::string os;  // may be ""
};
TagParts tag_parts(const std::vector<ComponentUse>& components, std::string optimise);
std::string tag_of_target(const Target& target);  // `<cpu>[-<gpu>…]`
std::string make_tag(const TagParts& parts, std::string_view target);

}  // namespace kiln
