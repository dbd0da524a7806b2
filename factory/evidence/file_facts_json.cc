// FileFacts as JSON: the report's form of a file.
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

Json dynamic_to_json(const DynamicFacts& dynamic) {
  Json json = Json::object();
  put(json, "soname", printable_name(dynamic.soname));
  put(json, "needed", printable_name(dynamic.needed));
  put(json, "rpath", printable_name(dynamic.rpath));
  put(json, "runpath", printable_name(dynamic.runpath));
  if (dynamic.no_default_libraries) json["no_default_libraries"] = true;
  return json;
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

}  // namespace kiln::evidence
