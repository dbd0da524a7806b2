// Facts of real files, as `kiln inspect` reported them. For tests.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "factory/evidence/file_facts.h"

namespace kiln::evidence::testing {

inline std::string text_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? found->string() : "";
}

inline std::vector<std::string> texts_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? found->strings() : std::vector<std::string>{};
}

inline std::uint64_t count_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? static_cast<std::uint64_t>(found->integer(0, INT64_MAX)) : 0;
}

inline Machine machine_called(const std::string& name) {
  for (Machine machine : {Machine::other, Machine::i386, Machine::x86_64, Machine::aarch64, Machine::ppc64})
    if (name_of(machine) == name) return machine;
  throw std::invalid_argument("no machine " + name);
}

inline ElfType type_called(const std::string& name) {
  if (name == "executable") return ElfType::executable;
  if (name == "shared") return ElfType::shared;
  throw std::invalid_argument("no type " + name);
}

inline FeatureFacts feature_facts_from_json(const JsonNode& node) {
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

inline DynamicFacts dynamic_from_json(const JsonNode& node) {
  DynamicFacts dynamic;
  dynamic.soname = text_at(node, "soname");
  dynamic.needed = texts_at(node, "needed");
  dynamic.rpath = texts_at(node, "rpath");
  dynamic.runpath = texts_at(node, "runpath");
  dynamic.no_default_libraries = node.find("no_default_libraries").has_value();
  return dynamic;
}

inline FileFacts file_facts_from_json(const JsonNode& node) {
  FileFacts facts;
  facts.machine = machine_called(node.at("machine").string());
  facts.type = type_called(node.at("type").string());
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

}  // namespace kiln::evidence::testing
