// A matrix from anybody: refused, or expanded into cells with ids of their own.
#include "factory/recipe/matrix.h"

#include <set>

#include "factory/expand/expand.h"
#include "readers.h"

namespace {

using namespace kiln;

constexpr std::uint64_t kFew = 500;  // cells: more would only be slow

RecipeBook some_recipes() {
  RecipeBook book;
  fuzz::FixedFiles files({}, true);
  auto add = [&](const char* path, const char* json) { book.add(read_recipe(json, path, files)); };
  add("recipes/base/debian/recipe.json",
      R"({"description": "d", "licenses": "MIT", "versions": {"trixie": {"facts": {"suite": "trixie"}}, "bookworm": {}},
          "methods": {"distro": {"rootfs": "rootfs.sh"}}})");
  add("recipes/framework/pytorch/recipe.json",
      R"({"description": "d", "licenses": "MIT", "versions": {"2.6.0": {"facts": {"python": "3.13"}}, "1.4.0": {}},
          "methods": {"distro": {"script": "a.sh"}, "pip": {"script": "b.sh"}}, "test": {"script": "t.sh"}})");
  add("recipes/library/openblas/recipe.json",
      R"({"description": "d", "licenses": "MIT", "versions": {"0.3.29": {}}, "methods": {"distro": {"script": "a.sh"}},
          "test": {"script": "t.sh"}})");
  return book;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const RecipeBook recipes = some_recipes();
  std::string text(fuzz::text_of(bytes, size));
  fuzz::FixedFiles files(
      {{"m/matrix.json", text}, {"m/other.json", R"({"name": "other", "axes": {"base": ["debian"]}})"}});
  return fuzz::refuses_or_reads([&] {
    Matrix matrix = read_matrix(files, "m/matrix.json");
    for (const MatrixGroup& group : matrix.groups) checked_size(group, kFew);
    Expansion expansion = expand(matrix, recipes);
    std::set<std::string> ids;
    for (std::size_t cell = 0; cell < expansion.size(); ++cell) {
      const ImageRequest request = expansion.request(cell);
      if (!ids.insert(request.id).second || request.id != cell_id(request.axes)) __builtin_trap();
    }
  });
}
