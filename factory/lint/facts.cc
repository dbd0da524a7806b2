#include "factory/lint/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/lint/recipe_source.h"
#include "factory/recipe/component_value.h"

namespace kiln::lint {
namespace {

std::string known_of(const Fact& fact, const std::vector<FactSource>& sources) {
  const FactSource* source = source_of(fact, sources);
  return std::string(name_of(source == nullptr ? Knowledge::unknown : source->known));
}

// A URL ends at the bar of a table's cell as well.
std::string in_cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text;
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
        lines.push_back({recipe.component, fmt::format("{}", fmt::join(source.of, ", ")), counts[&source],
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
                       in_cell(line.from));
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
