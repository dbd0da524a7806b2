// Graph compilers that every build of a framework has, so that stock of it has them as well: JAX compiles
// everything by XLA.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/base/effects.h"

namespace kiln {

// Names of graph compilers by the framework that has them.
using StockCompilers = std::map<std::string, std::set<std::string>>;

// As the fact `stock_of` of the compilers' recipes says, a framework or several with blanks between them. Of
// a compiler with recipes in several of these folders the first counts. A folder that is absent, and a recipe
// that cannot be read, say nothing.
StockCompilers stock_compilers(const FileSystem& files, const std::vector<fs::path>& roots);

}  // namespace kiln
