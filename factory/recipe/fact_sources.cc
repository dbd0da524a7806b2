#include "factory/recipe/fact_sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/enum_names.h"
#include "factory/base/glob.h"
#include "factory/base/keys.h"
#include "factory/base/reading.h"
#include "factory/recipe/component_value.h"

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
    return std::any_of(source.of.begin(), source.of.end(),
                       [&](const std::string& pattern) { return glob_matches(pattern, fact.path); });
  };
  auto found = std::find_if(sources.begin(), sources.end(), speaks);
  return found == sources.end() ? nullptr : &*found;
}

}  // namespace kiln
