// A recipe from anybody: refused with its place, or a component whose parts hold what the header promises.
#include "factory/recipe/recipe.h"

#include "readers.h"

namespace {

bool leaves_its_folder(const std::string& path) {
  for (const std::filesystem::path& part : std::filesystem::path(path))
    if (part == "..") return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  static const fuzz::FixedFiles files({}, true);
  static const char* const kKinds[] = {"framework", "base", "toolchain"};
  if (size == 0) return 0;
  fs::path file = fs::path("recipes") / kKinds[bytes[0] % 3] / "thing" / "recipe.json";
  return fuzz::refuses_or_reads([&] {
    Recipe recipe = read_recipe(fuzz::text_of(bytes + 1, size - 1), file, files);
    if (recipe.versions.empty() || recipe.methods.empty()) __builtin_trap();
    for (std::size_t i = 1; i < recipe.versions.size(); ++i)
      if (recipe.versions[i - 1].version <= recipe.versions[i].version) __builtin_trap();
    for (const Method& method : recipe.methods)
      for (const std::string& path : method.files)
        if (!recipe.files.contains(path)) __builtin_trap();
    for (const auto& [path, read] : recipe.files)
      if (path.empty() || path.front() == '/' || leaves_its_folder(path)) __builtin_trap();
  });
}
