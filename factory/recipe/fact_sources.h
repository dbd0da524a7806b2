// How what a recipe says of its versions is known, and from where. Words for people and for kiln lint, kept
// with the facts themselves: no key has them, and no image.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// built: an image was built with it, and its tests passed. read: upstream's own files state it. seen: others
// published it. derived: it follows from other facts. unknown: it was not found.
enum class Knowledge { built, read, seen, derived, unknown };
std::string_view name_of(Knowledge knowledge);
std::vector<std::string> knowledge_names();

struct FactSource {
  std::vector<std::string> of;  // globs over Fact::path
  Knowledge known = Knowledge::unknown;
  std::string from;  // addresses, or how it follows; "" when it is not known
  SourceLocation where;
};

// Of a recipe's root; empty without any. Throws Error(input) at its place.
std::vector<FactSource> read_fact_sources(const JsonNode& root);

struct Fact {
  std::string path;   // "2.1.0/python", "2.1.0/source"; of a base that is pulled also "2.1.0/image"
  std::string value;  // of the image its reference
  SourceLocation where;
};

// In the order of the document. REQUIRES: `recipe` was read from `root`.
std::vector<Fact> facts_of(const Recipe& recipe, const JsonNode& root);

// The first that speaks of it; nullptr: none.
const FactSource* source_of(const Fact& fact, const std::vector<FactSource>& sources);

// Graph compilers that every build of a framework has, so that stock of it has them as well: JAX compiles
// everything by XLA.

// Names of graph compilers by the framework that has them.
using StockCompilers = std::map<std::string, std::set<std::string>>;

// As the fact `stock_of` of the compilers' recipes says, a framework or several with blanks between them. Of
// a compiler with recipes in several of these folders the first counts. A folder that is absent, and a recipe
// that cannot be read, say nothing.
StockCompilers stock_compilers(const FileSystem& files, const std::vector<fs::path>& roots);

}  // namespace kiln
