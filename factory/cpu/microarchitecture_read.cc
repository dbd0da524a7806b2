// Reads archspec's microarchitectures.json.
#include <fmt/format.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/cpu/microarchitecture_versions.h"

namespace kiln {
namespace {

using CompilerEntry = Microarchitecture::CompilerEntry;

// Python's str.format with named fields only, which is all that archspec uses.
std::string fill_in(const JsonNode& pattern, const std::map<std::string, std::string>& fields) {
  const std::string text = pattern.string();
  std::string filled;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c != '{' && c != '}') {
      filled += c;
    } else if (at + 1 < text.size() && text[at + 1] == c) {
      filled += c;
      ++at;
    } else {
      std::size_t end = c == '{' ? text.find('}', at) : std::string::npos;
      if (end == std::string::npos) pattern.fail(fmt::format("a brace without its partner in '{}'", text));
      auto field = fields.find(text.substr(at + 1, end - at - 1));
      if (field == fields.end())
        pattern.fail(fmt::format("'{}' names a field that the entry does not have", text));
      filled += field->second;
      at = end;
    }
  }
  return filled;
}

CompilerEntry read_entry(const JsonNode& node, const std::string& cpu) {
  std::map<std::string, std::string> fields{{"name", cpu}};
  for (const auto& [key, value] : node.value().items())
    fields[key] = value.is_string() ? value.get<std::string>() : node.at(key).string();
  CompilerEntry entry;
  entry.versions = node.at("versions").string();
  if (!archspec::split_bounds(entry.versions)) {
    node.at("versions")
        .fail(fmt::format("expected a range of versions such as 4.9:8.0, found '{}'", entry.versions));
  }
  entry.name = fields["name"];
  entry.warning = fields["warnings"];
  entry.flags = fill_in(node.at("flags"), fields);
  return entry;
}

void add_unless_there(std::vector<std::string>& names, const std::string& name) {
  if (!contains(names, name)) names.push_back(name);
}

}  // namespace

struct Microarchitecture::Compilers::Table {
  JsonNode source;
  std::string cpu;
  std::once_flag once{};
  Entries entries{};

  void read() {
    Entries found;
    for (const auto& [compiler, list] : source.members()) {
      auto& of_compiler = found[compiler];  // an empty list, too, says that archspec knows the compiler
      for (const JsonNode& entry : list.items()) of_compiler.push_back(read_entry(entry, cpu));
    }
    entries = std::move(found);
  }
};

Microarchitecture::Compilers::Compilers(JsonNode table, std::string cpu)
    : table_(new Table{std::move(table), std::move(cpu)}) {}

const Microarchitecture::Compilers::Entries& Microarchitecture::Compilers::all() const {
  static const Entries none;
  if (table_ == nullptr) return none;
  std::call_once(table_->once, [&] { table_->read(); });
  return table_->entries;
}

const std::vector<CompilerEntry>* Microarchitecture::Compilers::find(std::string_view compiler) const {
  return find_value(all(), compiler);
}

class Microarchitectures::Reader {
 public:
  Reader(const JsonNode& microarchitectures, Microarchitectures& into)
      : source_(microarchitectures), into_(into) {}

  // Parents first: this is the order in which archspec fills its own table.
  void read(const std::string& name, const JsonNode& node) {
    if (into_.table_.contains(name)) return;
    if (!open_.insert(name).second) node.fail(fmt::format("'{}' is its own ancestor", name));
    Microarchitecture cpu;
    cpu.name = name;
    for (const JsonNode& parent : node.at("from").items()) {
      cpu.parents.push_back(parent.string());
      std::optional<JsonNode> found = source_.find(cpu.parents.back());
      if (!found)
        parent.fail(fmt::format("'{}' is not a microarchitecture of this file", cpu.parents.back()));
      read(cpu.parents.back(), *found);
    }
    read_own(cpu, node);
    inherit(cpu, node);
    into_.order_.push_back(name);
    into_.table_.emplace(name, std::move(cpu));
  }

 private:
  static void read_own(Microarchitecture& cpu, const JsonNode& node) {
    cpu.vendor = node.at("vendor").string();
    for (std::string& feature : node.at("features").strings()) cpu.features.insert(std::move(feature));
    if (cpu.features.contains("ssse3")) cpu.features.insert("sse3");
    if (auto generation = node.find("generation"))
      cpu.generation = static_cast<int>(generation->integer(0, 1'000'000));
    if (auto part = node.find("cpupart")) cpu.cpu_part = part->string();
    if (auto compilers = node.find("compilers")) cpu.compilers = {*std::move(compilers), cpu.name};
  }

  void inherit(Microarchitecture& cpu, const JsonNode& node) const {
    cpu.ancestors = cpu.parents;
    std::set<std::string> families;
    for (const std::string& name : cpu.parents) {
      const Microarchitecture& parent = into_.table_.at(name);
      for (const std::string& ancestor : parent.ancestors) add_unless_there(cpu.ancestors, ancestor);
      families.insert(parent.family);
    }
    if (families.empty()) families.insert(cpu.name);
    if (families.size() != 1) {
      node.fail(fmt::format("'{}' belongs to more than one family: {}", cpu.name, fmt::join(families, ", ")));
    }
    cpu.family = *families.begin();
  }

  const JsonNode& source_;
  Microarchitectures& into_;
  std::set<std::string> open_;  // being read, to find cycles
};

Microarchitectures Microarchitectures::parse(std::string_view json, std::string file) {
  const JsonNode root = JsonDocument::parse(json, std::move(file)).root();
  Microarchitectures cpus;
  const JsonNode microarchitectures = root.at("microarchitectures");
  Reader reader(microarchitectures, cpus);
  for (const auto& [name, node] : microarchitectures.members()) reader.read(name, node);

  for (const auto& [alias, rules] : root.at("feature_aliases").members()) {
    FeatureAlias& known = cpus.feature_aliases_[alias];
    for (const auto& [rule, value] : rules.members()) {
      std::vector<std::string> words = value.strings();
      if (rule == "any_of") {
        known.any_of = std::move(words);
      } else if (rule == "families") {
        known.families.emplace(words.begin(), words.end());
      } else if (rule != "reason") {
        value.fail(fmt::format("expected any_of, families or reason, found the rule '{}'", rule));
      }
    }
  }
  for (const auto& [code, vendor] : root.at("conversions").at("arm_vendors").members()) {
    cpus.arm_vendors_[code] = vendor.string();
  }
  return cpus;
}

}  // namespace kiln
