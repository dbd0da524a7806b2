#include "factory/evidence/file_facts.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/base/version.h"

namespace kiln::evidence {
namespace {

constexpr std::size_t kLongestSymbol = 240;

// Names of files and versions are any bytes in ELF; JSON is UTF-8.
std::string printable_name(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  if (text.size() > 4096) text.resize(4096);
  return text;
}

std::string demangled(std::string_view name) {
  std::string text(name);
  int status = 0;
  // The demangler is linear in its output, which is exponential in a hostile input: short names only.
  if (name.size() < 2048 && name.starts_with("_Z")) {
    std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status),
                                                 &std::free);
    if (status == 0 && plain) text = plain.get();
  }
  text = printable_name(std::move(text));
  if (text.size() > kLongestSymbol) {
    text.resize(kLongestSymbol - 3);
    text += "...";
  }
  return text;
}

// "GLIBC_2.34" → 2.34; GLIBC_PRIVATE and GLIBC_ABI_* are no versions.
std::string newest_glibc(const std::vector<std::string>& versions) {
  std::optional<Version> newest;
  for (const std::string& text : versions) {
    if (!text.starts_with("GLIBC_") || text.size() < 7 || text[6] < '0' || text[6] > '9' || text.size() > 24)
      continue;
    if (text.find_first_not_of("0123456789.", 6) != text.npos) continue;
    Version version(text.substr(6));
    if (!newest || *newest < version) newest = version;
  }
  return newest ? newest->text() : "";
}

Choice choice_of(const Dispatch& dispatch, std::uint32_t function, FeatureId id) {
  Tier tier = feature_table()[id].tier;
  for (std::size_t i = 0; i < std::size(kTiers); ++i)
    if (kTiers[i] == tier) return dispatch.choices[function][i];
  return Choice::unconditional;
}

class Summary {
 public:
  Summary(const ElfFile& file, const FunctionMap& map, const CodeScan& scan, const Dispatch& dispatch)
      : file_(file), map_(map), scan_(scan), dispatch_(dispatch) {}

  std::map<std::string, FeatureFacts> run() {
    for (std::uint32_t i = 0; i < map_.functions.size(); ++i) {
      if (map_.functions[i].gap && scan_.functions[i].undecodable) continue;  // data
      for (FeatureSet left = scan_.functions[i].features; left != 0; left &= left - 1)
        add(i, static_cast<FeatureId>(__builtin_ctzll(left)));
    }
    return std::move(features_);
  }

 private:
  void add(std::uint32_t number, FeatureId id) {
    const Function& function = map_.functions[number];
    Choice choice = choice_of(dispatch_, number, id);
    FeatureFacts& facts = features_[std::string(feature_table()[id].name)];
    facts.instructions = scan_.instructions[id];
    ++facts.functions[std::string(name_of(choice))];
    if (choice == Choice::unconditional && !facts.unconditional) {
      Instruction shown = first_instruction(file_.machine(), function, FeatureSet{1} << id);
      facts.unconditional = Witness{demangled(function.name), shown.address, shown.text};
    }
    if (choice != Choice::unconditional && facts.dispatched.empty())
      facts.dispatched = demangled(function.name);
  }

  const ElfFile& file_;
  const FunctionMap& map_;
  const CodeScan& scan_;
  const Dispatch& dispatch_;
  std::map<std::string, FeatureFacts> features_;
};

void examine_code(const ElfFile& file, unsigned jobs, FileFacts& facts) {
  FunctionMap map = map_functions(file);
  facts.code_bytes = map.code_bytes;
  for (const Function& function : map.functions) facts.functions += function.gap ? 0 : 1;
  facts.boundaries = map.has_symbols ? "symbols" : map.has_unwinding ? "unwinding" : "none";
  CodeScan scan = scan_code(file, map, jobs);
  facts.undecodable_bytes = scan.undecodable_bytes;
  Dispatch dispatch = find_dispatch(file, map, scan);
  facts.queries = dispatch.queries;
  facts.features = Summary(file, map, scan, dispatch).run();
}

}  // namespace

const std::string& dispatch_table() { return dispatch_names().digest.hex(); }

std::uint64_t FeatureFacts::unconditional_functions() const {
  return value_or(functions, std::string(name_of(Choice::unconditional)));
}

std::string_view family_of(Machine machine) {
  if (machine == Machine::x86_64 || machine == Machine::i386) return "x86_64";
  return machine == Machine::aarch64 ? "aarch64" : "";
}

FileFacts examine(std::string_view bytes, unsigned jobs) {
  ElfFile file(bytes);
  FileFacts facts;
  facts.machine = file.machine();
  facts.type = file.type();
  facts.interpreter = file.interpreter();
  facts.dynamic = file.dynamic();
  facts.needs_glibc = newest_glibc(file.needed_versions());
  if (facts.dynamic.soname == "libc.so.6") facts.provides_glibc = newest_glibc(file.defined_versions());
  facts.problems = file.problems();
  facts.gpu = gpu_code(file, facts.problems);
  // Objects that a linker has yet to put together do not run, and core files did.
  bool runs = facts.type == ElfType::executable || facts.type == ElfType::shared;
  if (runs && can_scan(facts.machine)) examine_code(file, jobs, facts);
  return facts;
}

// As the report has a file.

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
