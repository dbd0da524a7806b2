// The labels of an image in two halves. Used by resolve only.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/recipe/recipe.h"
#include "factory/resolve/resolve.h"

namespace kiln {

using Labels = std::map<std::string, std::string>;

// Those that have nothing to do with the target. `optimise`: the axis, "" for none; `optimised`: of the
// image.
Labels component_labels(const std::vector<ComponentUse>& components, bool optimised,
                        const std::string& optimise, const RecipeBook& recipes);

// Those of one cell: its target, `key` and `cell` (its id), the key of the image below its applications ("" =
// none), and the flags.
void add_cell_labels(Labels& labels, const Target& target, std::string key, std::string cell,
                     std::string parent, const std::vector<const FlagOrigin*>& flags);

// The text whose hash is the second half of a record's name. `labels`: all of them, as JSON.
std::string naming_text(const std::string& labels, const std::string& repository, const std::string& tag);

// Repository and tag of an image. Used by resolve only.
//
// The tag:
// `<version>-<method>[-<library>…][-<compiler>…][-<distributed>…][-<runtime>…][-<optimise>]-<cpu>[-<gpu>…]-<os>`,
// at most 128 characters (a longer one ends in a hash of itself). Automatic components are not in it; a
// version or method that the cell writes on a component axis is: `openblas0.3.29.source`. `optimise` is the
// value of that axis: `o3+lto` becomes `o3-lto`.

// The parts of a tag before and after the target, which images share.
struct TagParts {
  std::string head;
  std::string os;  // may be ""
};
TagParts tag_parts(const std::vector<ComponentUse>& components, std::string optimise);
std::string tag_of_target(const Target& target);  // `<cpu>[-<gpu>…]`
std::string make_tag(const TagParts& parts, std::string_view target);

// `<tag>-<first 12 of the key>`, at most 128 characters.
std::string make_immutable_tag(const std::string& tag, const std::string& key);

// The OCI repository of the component that an image is named after: its name in lower case.
std::string repository_of(const ComponentUse& main);

}  // namespace kiln
