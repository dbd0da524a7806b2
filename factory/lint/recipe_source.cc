#include "factory/lint/recipe_source.h"

#include <algorithm>

#include "factory/source/source_file.h"

namespace kiln::lint {
namespace {

bool is_left_alone(const std::string& name) {
  return name.starts_with('.') || name.ends_with('~') || name == "__pycache__" ||
         name.starts_with("README") || name.starts_with("LICENSE") || name.starts_with("NOTICE");
}

void list_all(const FileSystem& files, const fs::path& folder, const std::string& prefix,
              std::vector<std::string>& out) {
  for (const std::string& name : files.list(folder)) {
    if (is_left_alone(name)) continue;
    if (files.is_directory(folder / name)) {
      if (!is_link(folder / name)) list_all(files, folder / name, prefix + name + "/", out);
    } else {
      out.push_back(prefix + name);
    }
  }
}

}  // namespace

RecipeSource read_recipe_source(const fs::path& file, const FileSystem& files,
                                const std::vector<fs::path>& roots) {
  auto text = files.read(file);
  if (!text) throw Error(ExitCode::input, {file.string(), 0, 0, ""}, "there is no such recipe");
  Recipe component = read_recipe(*text, file, files, roots);
  JsonDocument document = JsonDocument::parse(*text, file.string());
  RecipeSource recipe{
      std::move(component), SourceFile(file.string(), std::move(*text)), std::move(document), {}, {}};
  for (const auto& [path, content] : recipe.component.files)
    recipe.files.emplace(path, SourceFile(content.source.string(), content.bytes));
  list_all(files, recipe.component.folder, "", recipe.unnamed);
  std::erase_if(recipe.unnamed, [&](const std::string& path) {
    return path == "recipe.json" || recipe.files.contains(path);
  });
  return recipe;
}

bool fact_admits(const std::string& fact, const std::string& version) {
  try {
    return VersionRange::parse(fact).contains(Version(version));
  } catch (const Error&) {
    return true;
  }
}

std::map<std::string, ScriptPlace> places_of(const Recipe& component) {
  std::map<std::string, ScriptPlace> places;
  auto set_all = [&](const std::vector<std::string>& paths, ScriptPlace place) {
    for (const std::string& path : paths) places.emplace(path, place);
  };
  for (const Method& method : component.methods)
    if (!method.script.empty()) places.emplace(method.script, ScriptPlace::recipe);
  for (const Method& method : component.methods)
    if (method.build) places.emplace(method.build->script, ScriptPlace::build);
  for (const Method& method : component.methods) {
    if (!method.rootfs.empty()) places.emplace(method.rootfs, ScriptPlace::host);
    if (!method.archive.empty()) places.emplace(method.archive, ScriptPlace::host);
    if (!method.site.empty()) places.emplace(method.site, ScriptPlace::host);
    set_all(method.files, method.rootfs.empty() ? ScriptPlace::recipe : ScriptPlace::host);
  }
  for (const SmokeTest& test : component.tests) {
    places.emplace(test.script, ScriptPlace::test);
    set_all(test.files, ScriptPlace::test);
  }
  return places;
}

}  // namespace kiln::lint
