// FileFacts as JSON: the cache's form, and the report's form of a file.
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/evidence/file_facts.h"

namespace kiln::evidence {
namespace {

constexpr auto kTypes = enum_names<ElfType>({{ElfType::other, "other"},
                                             {ElfType::relocatable, "relocatable"},
                                             {ElfType::executable, "executable"},
                                             {ElfType::shared, "shared"},
                                             {ElfType::core, "core"}});
constexpr auto kMachines = enum_names<Machine>({{Machine::other, "other"},
                                                {Machine::i386, "i386"},
                                                {Machine::x86_64, "x86_64"},
                                                {Machine::aarch64, "aarch64"},
                                                {Machine::ppc64, "ppc64"}});

std::string text_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? found->string() : "";
}

std::vector<std::string> texts_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? found->strings() : std::vector<std::string>{};
}

std::uint64_t count_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? static_cast<std::uint64_t>(found->integer(0, INT64_MAX)) : 0;
}

// Names of files and versions are any bytes in ELF; JSON is UTF-8.
std::string printable_name(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  if (text.size() > 4096) text.resize(4096);
  return text;
}

std::vector<std::string> printable_name(std::vector<std::string> texts) {
  for (std::string& text : texts) text = printable_name(std::move(text));
  return texts;
}

Json to_json(const FeatureFacts& facts) {
  Json json{{"instructions", facts.instructions}, {"functions", facts.functions}};
  if (facts.unconditional) {
    json["unconditional"] = {{"symbol", facts.unconditional->symbol},
                             {"address", facts.unconditional->address},
                             {"instruction", facts.unconditional->instruction}};
  }
  put(json, "dispatched", facts.dispatched);
  return json;
}

FeatureFacts feature_facts_from_json(const JsonNode& node) {
  FeatureFacts facts;
  facts.instructions = count_at(node, "instructions");
  for (const auto& [name, count] : node.at("functions").members())
    facts.functions[name] = static_cast<std::uint64_t>(count.integer(0, INT64_MAX));
  if (auto witness = node.find("unconditional")) {
    facts.unconditional =
        Witness{text_at(*witness, "symbol"), count_at(*witness, "address"), text_at(*witness, "instruction")};
  }
  facts.dispatched = text_at(node, "dispatched");
  return facts;
}

Json dynamic_to_json(const DynamicFacts& dynamic) {
  Json json = Json::object();
  put(json, "soname", printable_name(dynamic.soname));
  put(json, "needed", printable_name(dynamic.needed));
  put(json, "rpath", printable_name(dynamic.rpath));
  put(json, "runpath", printable_name(dynamic.runpath));
  if (dynamic.no_default_libraries) json["no_default_libraries"] = true;
  return json;
}

DynamicFacts dynamic_from_json(const JsonNode& node) {
  DynamicFacts dynamic;
  dynamic.soname = text_at(node, "soname");
  dynamic.needed = texts_at(node, "needed");
  dynamic.rpath = texts_at(node, "rpath");
  dynamic.runpath = texts_at(node, "runpath");
  dynamic.no_default_libraries = node.find("no_default_libraries").has_value();
  return dynamic;
}

template <typename Names>
auto value_at(const JsonNode& node, const Names& names) {
  std::string text = node.string();
  auto value = names.find(text);
  if (!value) node.fail("unknown word '" + text + "'");
  return *value;
}

}  // namespace

std::string_view name_of(Machine machine) { return kMachines.of(machine); }

Json to_json(const FileFacts& facts) {
  Json json{{"machine", name_of(facts.machine)}, {"type", kTypes.of(facts.type)}};
  put(json, "interpreter", printable_name(facts.interpreter));
  put(json, "dynamic", dynamic_to_json(facts.dynamic));
  put(json, "needs_glibc", facts.needs_glibc);
  put(json, "provides_glibc", facts.provides_glibc);
  if (facts.code_bytes > 0) {
    json["code_bytes"] = facts.code_bytes;
    json["functions"] = facts.functions;
    json["boundaries"] = facts.boundaries;
    json["undecodable_bytes"] = facts.undecodable_bytes;
  }
  for (const auto& [name, feature] : facts.features) json["features"][name] = to_json(feature);
  put(json, "asks_by", printable_name(facts.queries));
  put(json, "cuda_machine_code", facts.gpu.sm);
  put(json, "cuda_ptx", facts.gpu.compute);
  put(json, "hip", facts.gpu.gfx);
  put(json, "problems", facts.problems);
  return json;
}

FileFacts file_facts_from_json(const JsonNode& node) {
  FileFacts facts;
  facts.machine = value_at(node.at("machine"), kMachines);
  facts.type = value_at(node.at("type"), kTypes);
  facts.interpreter = text_at(node, "interpreter");
  if (auto dynamic = node.find("dynamic")) facts.dynamic = dynamic_from_json(*dynamic);
  facts.needs_glibc = text_at(node, "needs_glibc");
  facts.provides_glibc = text_at(node, "provides_glibc");
  facts.code_bytes = count_at(node, "code_bytes");
  facts.functions = count_at(node, "functions");
  facts.boundaries = text_at(node, "boundaries");
  facts.undecodable_bytes = count_at(node, "undecodable_bytes");
  if (auto features = node.find("features"))
    for (const auto& [name, feature] : features->members()) {
      if (set_of(family_of(facts.machine), {name}) == 0) feature.fail("unknown feature '" + name + "'");
      facts.features.emplace(name, feature_facts_from_json(feature));
    }
  facts.queries = texts_at(node, "asks_by");
  facts.gpu.sm = texts_at(node, "cuda_machine_code");
  facts.gpu.compute = texts_at(node, "cuda_ptx");
  facts.gpu.gfx = texts_at(node, "hip");
  facts.problems = texts_at(node, "problems");
  return facts;
}

}  // namespace kiln::evidence
