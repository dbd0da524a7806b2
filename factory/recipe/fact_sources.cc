#include "factory/recipe/fact_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr auto kKnowledge = enum_names<Knowledge>({{Knowledge::built, "built"},
                                                   {Knowledge::read, "read"},
                                                   {Knowledge::seen, "seen"},
                                                   {Knowledge::derived, "derived"},
                                                   {Knowledge::unknown, "not known"}});

FactSource read_source_of_facts(const JsonNode& node) {
  node.allow_only(keys_of("recipe/fact_source"));
  FactSource source;
  source.where = node.where();
  source.of = node.at("of").strings();
  if (source.of.empty()) node.at("of").fail("expected at least one pattern, found an empty array");
  const JsonNode known = node.at("known");
  source.known = *kKnowledge.find(read_word_of(known, kKnowledge.all(), "how something is known"));
  if (auto from = node.find("from")) source.from = read_text(*from);
  if (source.from.empty() && source.known != Knowledge::unknown)
    node.fail("this does not say from where", "\"from\" is an address, or how it follows from what");
  return source;
}

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

std::string_view name_of(Knowledge knowledge) { return kKnowledge.of(knowledge); }
std::vector<std::string> knowledge_names() { return kKnowledge.all(); }

std::vector<FactSource> read_fact_sources(const JsonNode& root) {
  std::vector<FactSource> sources;
  if (auto list = root.find("sources"))
    for (const JsonNode& item : list->items()) sources.push_back(read_source_of_facts(item));
  return sources;
}

std::vector<Fact> facts_of(const Recipe& recipe, const JsonNode& root) {
  std::vector<Fact> facts;
  for (const auto& [version, node] : root.at("versions").members()) {
    for (const Method& method : recipe.methods)
      if (!method.image.empty() && method.versions.contains(Version(version)))
        facts.push_back({version + "/image", base_reference(method, Version(version)), node.where()});
    if (auto of_version = node.find("facts"))
      for (const auto& [name, value] : of_version->members())
        facts.push_back({fmt::format("{}/{}", version, name), value.string(), value.where()});
    if (auto source = node.find("source"))
      facts.push_back({version + "/source",
                       fmt::format("{} {}", source->at("url").string(), source->at("checksum").string()),
                       source->where()});
  }
  return facts;
}

const FactSource* source_of(const Fact& fact, const std::vector<FactSource>& sources) {
  auto speaks = [&](const FactSource& source) {
    return std::ranges::any_of(source.of,
                               [&](const std::string& pattern) { return glob_matches(pattern, fact.path); });
  };
  return find_where(sources, speaks);
}

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
