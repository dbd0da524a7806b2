#include "factory/recipe/stock_compilers.h"

#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/recipe/recipe.h"

namespace kiln {
namespace {

// The frameworks of one recipe, of any of its versions.
std::set<std::string> frameworks_of(const FileSystem& files, const fs::path& recipe) {
  std::set<std::string> names;
  const std::optional<std::string> text = files.read(recipe);
  if (!text) return names;
  const JsonDocument document = JsonDocument::parse(*text, recipe.string());
  for (const auto& [version, of_version] : document.root().at("versions").members()) {
    const auto facts = of_version.find("facts");
    const auto stock = facts ? facts->find("stock_of") : std::nullopt;
    if (!stock) continue;
    const std::string frameworks = stock->string();
    for (std::string_view name : split(frameworks, ' '))
      if (!name.empty()) names.insert(lower_case(name));
  }
  return names;
}

}  // namespace

StockCompilers stock_compilers(const FileSystem& files, const std::vector<fs::path>& roots) {
  std::map<std::string, std::set<std::string>> frameworks;
  for (const fs::path& root : roots) {
    for (const std::string& compiler : recipe_names(files, {root}, Kind::compiler)) {
      try {
        frameworks.try_emplace(
            compiler, frameworks_of(files, root / name_of(Kind::compiler) / compiler / "recipe.json"));
      } catch (const Error&) {
        continue;  // `kiln lint` says what is wrong with it
      }
    }
  }
  StockCompilers stock;
  for (const auto& [compiler, names] : frameworks)
    for (const std::string& framework : names) stock[framework].insert(compiler);
  return stock;
}

}  // namespace kiln
