#include "factory/lint/recipe_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/lint/output.h"
#include "factory/recipe/component_value.h"
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

std::map<std::string, ScriptRole> places_of(const Recipe& component) {
  std::map<std::string, ScriptRole> places;
  auto set_all = [&](const std::vector<std::string>& paths, ScriptRole place) {
    for (const std::string& path : paths) places.emplace(path, place);
  };
  for (const Method& method : component.methods)
    if (!method.script.empty()) places.emplace(method.script, ScriptRole::recipe);
  for (const Method& method : component.methods)
    if (method.build) places.emplace(method.build->script, ScriptRole::build);
  for (const Method& method : component.methods) {
    if (!method.rootfs.empty()) places.emplace(method.rootfs, ScriptRole::host);
    if (!method.archive.empty()) places.emplace(method.archive, ScriptRole::host);
    if (!method.site.empty()) places.emplace(method.site, ScriptRole::host);
    set_all(method.files, method.rootfs.empty() ? ScriptRole::recipe : ScriptRole::host);
  }
  for (const SmokeTest& test : component.tests) {
    places.emplace(test.script, ScriptRole::test);
    set_all(test.files, ScriptRole::test);
  }
  return places;
}

namespace {

std::string known_of(const Fact& fact, const std::vector<FactSource>& sources) {
  const FactSource* source = source_of(fact, sources);
  return std::string(name_of(source == nullptr ? Knowledge::unknown : source->known));
}

}  // namespace

std::vector<RecipeFacts> facts_of_recipes(const std::vector<fs::path>& files, const FileSystem& from,
                                          const std::vector<fs::path>& roots) {
  std::vector<RecipeFacts> all;
  for (const fs::path& file : files) {
    const RecipeSource source = read_recipe_source(file, from, roots);
    const JsonNode root = source.document.root();
    RecipeFacts facts{path_of(source.component), facts_of(source.component, root), read_fact_sources(root)};
    if (!facts.facts.empty()) all.push_back(std::move(facts));
  }
  return all;
}

std::vector<FactLine> fact_lines(const std::vector<RecipeFacts>& recipes) {
  std::vector<FactLine> lines;
  for (const RecipeFacts& recipe : recipes) {
    std::map<const FactSource*, std::size_t> counts;
    for (const Fact& fact : recipe.facts) ++counts[source_of(fact, recipe.sources)];
    for (const FactSource& source : recipe.sources)
      if (counts.contains(&source))
        lines.push_back({recipe.component, joined(source.of, ", "), counts[&source],
                         std::string(name_of(source.known)), source.from});
    if (counts.contains(nullptr))
      lines.push_back(
          {recipe.component, "the others", counts[nullptr], std::string(name_of(Knowledge::unknown)), ""});
  }
  return lines;
}

std::string facts_in_short(const std::vector<RecipeFacts>& recipes) {
  std::map<std::string, std::size_t> counts;
  std::size_t facts = 0;
  for (const RecipeFacts& recipe : recipes) {
    facts += recipe.facts.size();
    for (const Fact& fact : recipe.facts) ++counts[known_of(fact, recipe.sources)];
  }
  std::vector<std::string> words;
  for (const std::string& name : knowledge_names())
    if (counts.contains(name)) words.push_back(fmt::format("{} {}", counts[name], name));
  return fmt::format("{}: {}", counted(facts, "fact"), fmt::join(words, ", "));
}

std::string facts_as_markdown(const std::vector<RecipeFacts>& recipes) {
  std::string out = facts_in_short(recipes) +
                    ".\n\n| recipe | version/fact | facts | known | from |\n|---|---|---|---|---|\n";
  for (const FactLine& line : fact_lines(recipes))
    out += fmt::format("| {} | `{}` | {} | {} | {} |\n", line.component, line.what, line.facts, line.known,
                       table_cell(line.from));
  return out;
}

std::string facts_as_json(const std::vector<RecipeFacts>& recipes) {
  Json all = Json::array();
  for (const RecipeFacts& recipe : recipes)
    for (const Fact& fact : recipe.facts) {
      const FactSource* source = source_of(fact, recipe.sources);
      all.push_back({{"component", recipe.component},
                     {"fact", fact.path},
                     {"value", fact.value},
                     {"known", known_of(fact, recipe.sources)},
                     {"from", source == nullptr ? "" : source->from},
                     {"file", fact.where.file},
                     {"line", fact.where.line}});
    }
  return all.dump(2) + "\n";
}

}  // namespace kiln::lint
