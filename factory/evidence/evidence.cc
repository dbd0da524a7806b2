#include "factory/evidence/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "factory/base/enum_names.h"
#include "factory/base/text.h"

namespace kiln {
std::map<std::string_view, std::string_view> embedded_judged_files();
}

namespace kiln::evidence {
namespace {

constexpr auto kVerdicts = enum_names<Verdict>({{Verdict::conforms, "conforms"},
                                                {Verdict::exceeds, "exceeds"},
                                                {Verdict::not_optimised, "not optimised"},
                                                {Verdict::not_judged, "not judged"}});

struct JudgedFiles {
  std::vector<std::pair<std::string, std::string>> accepted;  // pattern, reason
  std::vector<std::string> everywhere;
};

const JudgedFiles& judged_files() {
  static const JudgedFiles kFiles = [] {
    JsonNode root =
        JsonDocument::parse(embedded_judged_files().at("judged_files.json"), "judged_files.json").root();
    root.allow_only({"accepted", "everywhere"});
    JudgedFiles files;
    for (const JsonNode& entry : root.at("accepted").items())
      files.accepted.emplace_back(entry.at("file").string(), entry.at("reason").line_of_text());
    files.everywhere = root.at("everywhere").strings();
    return files;
  }();
  return kFiles;
}

struct Excuse {
  std::string reason;  // "" = there is none
  std::string by;
};

Excuse excuse_of(const ElfEntry& entry, const std::vector<Acceptance>& by_recipes) {
  const std::string path = "/" + entry.path;
  for (const auto& [pattern, reason] : judged_files().accepted)
    if (glob_matches(pattern, path)) return {reason, "kiln"};
  for (const Acceptance& acceptance : by_recipes)
    if ((!acceptance.layers || acceptance.layers->contains(entry.layer)) &&
        glob_matches(acceptance.file, path))
      return {acceptance.reason, acceptance.by};
  return {};
}

bool is_everywhere(const std::string& path) {
  return std::ranges::any_of(judged_files().everywhere,
                             [&](const auto& pattern) { return glob_matches(pattern, path); });
}

class Judge {
 public:
  Judge(ImageFiles& files, const Declaration& declared, const Microarchitectures& cpus)
      : files_(files), cpus_(cpus) {
    evidence_.declared = declared;
    if (declared.target.empty()) return;
    allowed_ = features_of_target(cpus, declared.target);
    family_ = cpus.family(declared.target);
  }

  Evidence run() {
    evidence_.files = elf_entries(files_);
    evidence_.elf_files = evidence_.files.size();
    for (const ElfEntry& entry : evidence_.files) add(entry);
    sort_excesses();
    evidence_.optimised_features = names_of(optimised_);
    evidence_.glibc = needed_glibc(evidence_.files, main_machine());
    evidence_.missing = missing_libraries(files_, evidence_.files, evidence_.declared.library_path);
    add_damage();
    evidence_.verdict = verdict();
    if (evidence_.verdict == Verdict::exceeds) evidence_.lowest_target = lowest_target();
    return std::move(evidence_);
  }

 private:
  // What most of the image's code is for.
  Machine main_machine() const {
    std::map<Machine, std::uint64_t> bytes;
    for (const ElfEntry& entry : evidence_.files) bytes[entry.facts->machine] += 1 + entry.facts->code_bytes;
    Machine most = Machine::other;
    for (const auto& [machine, size] : bytes)
      if (size > bytes[most] || most == Machine::other) most = machine;
    return most;
  }

  void add(const ElfEntry& entry) {
    const FileFacts& facts = *entry.facts;
    evidence_.code_bytes += facts.code_bytes;
    auto merge = [](std::vector<std::string>& into, const std::vector<std::string>& names) {
      for (const std::string& name : names)
        if (!contains(into, name)) into.push_back(name);
    };
    merge(evidence_.gpu.sm, facts.gpu.sm);
    merge(evidence_.gpu.compute, facts.gpu.compute);
    merge(evidence_.gpu.gfx, facts.gpu.gfx);
    for (const std::string& problem : facts.problems) evidence_.problems.emplace_back(entry.path, problem);
    std::string family(family_of(facts.machine));
    Tier loader = tier_of_folder("/" + entry.path);
    for (const auto& [name, feature_facts] : facts.features) {
      FeatureSet bit = feature(family, name);
      if ((bit & features_of_tier(Tier::v2)) == 0) continue;
      bool chosen_by_loader = loader != Tier::baseline && tier_of(bit) <= loader;
      add_feature(entry, name, bit, feature_facts, chosen_by_loader);
    }
    if (promises(entry)) optimised_ |= set_of(family, keys_of(facts.features)) & features_of_tier(Tier::v2);
  }

  // Whether there is a decoder for code of this family: of POWER nobody can say what it needs.
  static bool is_read(const std::string& family) {
    for (const Machine machine : {Machine::x86_64, Machine::aarch64})
      if (family_of(machine) == family) return true;
    return false;
  }

  static Tier tier_of(FeatureSet bit) {
    return feature_table()[static_cast<std::size_t>(__builtin_ctzll(bit))].tier;
  }

  static std::vector<std::string> keys_of(const std::map<std::string, FeatureFacts>& features) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : features) names.push_back(name);
    return names;
  }

  bool promises(const ElfEntry& entry) const {
    const auto& layers = evidence_.declared.layers;
    return (layers.empty() || layers.contains(entry.layer)) && !is_everywhere(entry.path);
  }

  void add_feature(const ElfEntry& entry, const std::string& name, FeatureSet bit, const FeatureFacts& facts,
                   bool chosen_by_loader) {
    FeatureTotal& total = evidence_.features[name];
    bool unconditional = facts.unconditional.has_value() && !chosen_by_loader;
    if (total.example.empty() || (unconditional && total.files_unconditional == 0))
      total.example = entry.path;
    ++(unconditional ? total.files_unconditional : total.files_dispatched);
    bool judged = (bit & judged_features()) != 0 && family_of(entry.facts->machine) == family_;
    if (!unconditional || !judged) return;
    const bool allowed = (bit & allowed_) != 0;
    const Excuse excuse = allowed ? Excuse{} : excuse_of(entry, evidence_.declared.accept);
    if (excuse.reason.empty()) needed_ |= bit;
    if (!allowed)
      evidence_.excesses.push_back({entry.path, name, facts.unconditional_functions(), *facts.unconditional,
                                    excuse.reason, excuse.by});
  }

  // Of each file the feature furthest beyond first: it says most.
  void sort_excesses() {
    auto position = [](const Excess& excess) {
      const auto table = feature_table();
      return std::ranges::find(table, excess.feature, &Feature::name) - table.begin();
    };
    std::ranges::stable_sort(evidence_.excesses, [&](const Excess& a, const Excess& b) {
      return a.file != b.file ? a.file < b.file : position(a) > position(b);
    });
  }

  void add_damage() {
    files_.tree.each_node([&](NodeId node) {
      const Inode& inode = files_.tree.inode(files_.tree.inode_at(node));
      if (inode.kind == EntryKind::file && inode.payload < files_.contents.size() &&
          !files_.contents[inode.payload].damage.empty())
        evidence_.problems.emplace_back(files_.tree.path(node), files_.contents[inode.payload].damage);
    });
    std::ranges::sort(evidence_.problems);
  }

  // Generic levels before the processors of vendors, and the name last: the answer is always the same.
  std::string lowest_target() const {
    std::optional<std::tuple<std::size_t, bool, std::string>> lowest;
    for (const std::string& name : cpus_.names()) {
      const Microarchitecture& cpu = *cpus_.find(name);
      if (cpu.family != family_ || (needed_ & ~features_of_target(cpus_, name)) != 0) continue;
      std::tuple place(cpu.ancestors.size(), cpu.vendor != "generic", name);
      if (!lowest || place < *lowest) lowest = std::move(place);
    }
    return lowest ? std::get<2>(*lowest) : "";
  }

  Verdict verdict() const {
    if (evidence_.declared.target.empty() || !is_read(family_)) return Verdict::not_judged;
    for (const Excess& excess : evidence_.excesses)
      if (excess.accepted.empty()) return Verdict::exceeds;
    FeatureSet promised = allowed_ & judged_features();
    bool has_any = (optimised_ & judged_features()) != 0;
    if (evidence_.declared.optimised && promised != 0 && !has_any) return Verdict::not_optimised;
    return Verdict::conforms;
  }

  ImageFiles& files_;
  const Microarchitectures& cpus_;
  FeatureSet allowed_ = 0;
  FeatureSet optimised_ = 0;
  FeatureSet needed_ = 0;  // by what runs unconditionally and is not accepted
  std::string family_;
  Evidence evidence_;
};

}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdicts.of(verdict); }

std::vector<std::string> Evidence::unconditional() const {
  std::vector<std::string> names;
  for (const auto& [name, total] : features)
    if (total.files_unconditional > 0) names.push_back(name);
  return names;
}

std::vector<std::string> Evidence::dispatched() const {
  std::vector<std::string> names;
  for (const auto& [name, total] : features)
    if (total.files_unconditional == 0) names.push_back(name);
  return names;
}

Evidence judge(ImageFiles& files, const Declaration& declared, const Microarchitectures& cpus) {
  return Judge(files, declared, cpus).run();
}

std::string describe(const Excess& excess) {
  return fmt::format(
      "/{}: {} in {} at {:#x}: {}{}", excess.file, excess.feature,
      excess.witness.symbol.empty() ? "a function without a name" : excess.witness.symbol,
      excess.witness.address, excess.witness.instruction,
      excess.functions > 1 ? fmt::format(" (and {} more functions)", excess.functions - 1) : "");
}

}  // namespace kiln::evidence
