#include "factory/evidence/dispatch.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "factory/base/text.h"
#include "factory/evidence/byte_reader.h"

namespace kiln {
std::map<std::string_view, std::string_view> embedded_dispatch_names();
}

namespace kiln::evidence {
namespace {

constexpr auto kTierNames = enum_names<Tier>({{Tier::v2, "v2"}, {Tier::v3, "v3"}, {Tier::v4, "v4"}});

Tier tier_at(const JsonNode& node) {
  auto tier = kTierNames.find(node.at("tier").string());
  if (!tier) node.at("tier").fail("expected v2, v3 or v4");
  return *tier;
}

std::vector<DispatchNames::Variant> variants_at(const JsonNode& list) {
  std::vector<DispatchNames::Variant> variants;
  for (const JsonNode& variant : list.items()) {
    variant.allow_only({"contains", "tier", "reason"});
    variant.at("reason").line_of_text();
    for (const std::string& part : variant.at("contains").strings())
      variants.push_back({part, tier_at(variant)});
  }
  std::ranges::stable_sort(variants, std::ranges::greater(), &DispatchNames::Variant::tier);
  return variants;
}

Tier highest(const std::vector<DispatchNames::Variant>& variants, std::string_view symbol) {
  for (const auto& variant : variants)
    if (contains(symbol, variant.part)) return variant.tier;
  return Tier::baseline;
}

}  // namespace

DispatchNames read_dispatch_names(std::string_view json) {
  JsonNode root = JsonDocument::parse(json, "dispatch_names.json").root();
  root.allow_only({"variants", "vector_abi", "queries", "hwcaps"});
  DispatchNames names;
  names.digest = Digest::of(json);
  names.variants = variants_at(root.at("variants"));
  names.vector_abi = variants_at(root.at("vector_abi"));
  names.queries = root.at("queries").strings();
  std::ranges::sort(names.queries);
  for (const JsonNode& folder : root.at("hwcaps").items())
    names.folders.push_back({folder.at("folder").string(), tier_at(folder)});
  return names;
}

const DispatchNames& dispatch_names() {
  static const DispatchNames kNames =
      read_dispatch_names(embedded_dispatch_names().at("dispatch_names.json"));
  return kNames;
}

Tier DispatchNames::tier_of(std::string_view symbol) const { return highest(variants, symbol); }
Tier DispatchNames::tier_of_abi(std::string_view symbol) const { return highest(vector_abi, symbol); }

bool DispatchNames::is_query(std::string_view symbol) const {
  std::size_t version = symbol.find('@');  // "__cpu_model@GCC_4.8.0"
  return std::ranges::binary_search(queries, symbol.substr(0, version));
}

namespace {

constexpr std::size_t kPltEntry = 16;  // bytes
// A function that keeps what CPUID says is short; long ones that call it do their own work, too.
constexpr std::size_t kSmallFunction = 4096;  // bytes
constexpr std::uint64_t kAnswerWords = 4;     // of a structure that begins at the word that is named

// Relocation types (psABI): RELATIVE, word-sized absolute, IRELATIVE. Those that name a symbol are alike
// here.
struct RelocationTypes {
  std::uint32_t relative, absolute, irelative;
};
RelocationTypes types_of(Machine machine) {
  if (machine == Machine::aarch64) return {1027, 257, 1032};
  if (machine == Machine::i386) return {8, 1, 42};
  return {8, 1, 37};
}

class Finder {
 public:
  Finder(const ElfFile& file, const FunctionMap& map, const CodeScan& scan)
      : file_(file), map_(map), scan_(scan), types_(types_of(file.machine())), count_(map.functions.size()) {}

  Dispatch run() {
    result_.choices.resize(count_);
    pointed_.resize(count_);
    resolver_.resize(count_);
    candidate_.resize(count_);
    asks_.resize(count_);
    read_relocations();
    read_pointers();
    resolve_references();
    find_queries();
    find_candidates();
    name_tiers();
    result_.asks = !queries_.empty();
    result_.queries.assign(queries_.begin(), queries_.end());
    sort_edges();
    for (std::size_t tier = 0; tier < std::size(kTiers); ++tier) decide(tier);
    return std::move(result_);
  }

 private:
  std::string_view dynamic_name(std::uint32_t symbol) const {
    return symbol < file_.dynamic_symbols().size() ? file_.dynamic_symbols()[symbol].name
                                                   : std::string_view();
  }

  void point_at(std::uint64_t address) {
    if (std::uint32_t target = map_.starting_at(address); target != FunctionMap::kNone)
      pointed_[target] = true;
  }

  // Three things: which functions have their address in data, which words of the GOT lead to functions of
  // this file, and which words hold answers of known queries. Every number is of the file: symbols and
  // addresses are looked up, and what is not found is nothing.
  void read_relocations() {
    for (std::uint32_t i = 0; i < count_; ++i) resolver_[i] = map_.functions[i].indirect ? 1 : 0;
    for (const Relocation& relocation : file_.relocations()) {
      auto addend = static_cast<std::uint64_t>(relocation.addend);
      if (relocation.type == types_.relative ||
          (relocation.type == types_.absolute && relocation.symbol == 0))
        point_at(addend);
      if (relocation.type == types_.irelative)
        if (std::uint32_t target = map_.starting_at(addend); target != FunctionMap::kNone)
          resolver_[target] = true;
      if (relocation.symbol == 0) continue;
      if (relocation.symbol < file_.dynamic_symbols().size()) {
        const Symbol& symbol = file_.dynamic_symbols()[relocation.symbol];
        std::uint32_t target = symbol.section == 0 ? FunctionMap::kNone : map_.starting_at(symbol.value);
        if (target != FunctionMap::kNone) slots_.emplace(relocation.place & ~std::uint64_t{7}, target);
      }
      std::string_view name = dynamic_name(relocation.symbol);
      if (!dispatch_names().is_query(name)) continue;
      queries_.emplace(name);
      query_words_.insert(relocation.place & ~std::uint64_t{7});
    }
    // Defined here (static libraries linked in, glibc itself): the symbol is the variable.
    for (const auto* table : {&file_.symbols(), &file_.dynamic_symbols()})
      for (const Symbol& symbol : *table)
        if (symbol.section != 0 && symbol.type == kObject && dispatch_names().is_query(symbol.name)) {
          queries_.emplace(symbol.name);
          std::uint64_t size = std::min<std::uint64_t>(symbol.size, 4096);
          for (std::uint64_t at = 0; at == 0 || at < size; at += 8)
            query_words_.insert((symbol.value + at) & ~std::uint64_t{7});
        }
  }

  // Code that is not position-independent has pointers without relocations.
  void read_pointers() {
    if (file_.type() != ElfType::executable || !file_.is_64()) return;
    for (const Section& section : file_.sections()) {
      if (!section.allocated() || section.executable()) continue;
      for (std::uint64_t at = 0; at + 8 <= section.bytes.size(); at += 8)
        point_at(number_at<std::uint64_t>(section.bytes, at));
    }
  }

  // Who refers to whom, and how many lead to each function. What goes through the PLT or the GOT to a
  // function of this file counts as if it went there straight.
  void resolve_references() {
    std::vector<std::uint32_t> behind(count_,
                                      FunctionMap::kNone);  // of PLT entries: the function they jump to
    for (const CodeReference& reference : scan_.to_data) {
      auto found = slots_.find(reference.to);
      if (found == slots_.end()) continue;
      if (map_.functions[reference.from].bytes.size() <= kPltEntry)
        behind[reference.from] = found->second;
      else if (found->second != reference.from)
        edges_.push_back({reference.from, found->second});
    }
    for (const CodeReference& reference : scan_.to_code) {
      std::uint32_t target = map_.starting_at(reference.to);
      if (target == FunctionMap::kNone) continue;
      if (behind[target] != FunctionMap::kNone) target = behind[target];
      if (target != reference.from) edges_.push_back({reference.from, target});
    }
    referrers_.resize(count_ + 1);
    for (const Edge& edge : edges_) ++referrers_[edge.to + 1];
    for (std::size_t i = 1; i <= count_; ++i) referrers_[i] += referrers_[i - 1];
  }

  bool is_got(std::uint64_t address) const {
    const Section* section = file_.section_at(address);
    return section == nullptr || section->name.starts_with(".got");
  }

  // Who asks: functions with CPUID and those that use a known query; those that use the words which these
  // leave their answers in; and those that call one of all these. What calls the callers does not ask.
  void find_queries() {
    std::vector<char> knows(count_);
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (scan_.functions[i].asks_processor)
        queries_.emplace(file_.machine() == Machine::aarch64 ? "mrs" : "cpuid");
      if (scan_.functions[i].asks_processor || dispatch_names().is_query(map_.functions[i].name))
        knows[i] = 1;
    }
    for (const CodeReference& reference : scan_.to_data)
      if (query_words_.contains(reference.to)) knows[reference.from] = true;
    // What CPUID says is often kept by the caller: OPENSSL_cpuid_setup() and the like.
    std::vector<char> keeps = knows;
    for (const Edge& edge : edges_)
      if (knows[edge.to] && map_.functions[edge.from].bytes.size() < kSmallFunction) keeps[edge.from] = true;
    std::unordered_set<std::uint64_t> words = query_words_;
    for (const CodeReference& reference : scan_.to_data)
      if (keeps[reference.from] && !is_got(reference.to))
        for (std::uint64_t i = 0; i < kAnswerWords; ++i) words.insert(reference.to + 8 * i);
    for (const CodeReference& reference : scan_.to_data)
      if (words.contains(reference.to)) knows[reference.from] = true;
    for (std::uint32_t i = 0; i < count_; ++i) asks_[i] = knows[i];
    for (const Edge& edge : edges_)
      if (knows[edge.to]) asks_[edge.from] = true;
  }

  void find_candidates() {
    for (const Edge& edge : edges_)
      if (resolver_[edge.from]) candidate_[edge.to] = true;
    for (std::uint32_t i = 0; i < count_; ++i)
      if (resolver_[i]) queries_.emplace("ifunc"), asks_[i] = true;
  }

  void name_tiers() {
    named_.resize(count_);
    for (std::uint32_t i = 0; i < count_; ++i)
      if (!map_.functions[i].name.empty()) named_[i] = dispatch_names().tier_of(map_.functions[i].name);
  }

  Choice seed(std::uint32_t i, std::size_t tier) const {
    if (candidate_[i]) return Choice::ifunc;
    if (map_.functions[i].root) return Choice::unconditional;
    if (asks_[i] || scan_.functions[i].out_of_line_atomic) return Choice::asks;
    if (result_.asks && named_[i] >= kTiers[tier]) return Choice::name;
    if (dispatch_names().tier_of_abi(map_.functions[i].name) >= kTiers[tier]) return Choice::name;
    return Choice::unconditional;
  }

  // `referrers_` is summed up, so two neighbours are equal where nobody refers to the first.
  bool has_referrer(std::uint32_t i) const { return referrers_[i] != referrers_[i + 1]; }

  // Whether a file holds code of a tier and code that was compiled for less.
  bool is_mixed(std::size_t tier) const {
    FeatureSet above = features_of_tier(kTiers[tier]) & judged_features();
    std::size_t users = 0, old = 0;
    for (const FunctionScan& scan : scan_.functions) {
      users += (scan.features & above) != 0 ? 1 : 0;
      old += scan.legacy_sse ? 1 : 0;
    }
    return 2 * old >= users;
  }

  // May all that leads here be dispatched?
  Choice hope(std::uint32_t i, std::size_t tier) const {
    const Function& function = map_.functions[i];
    if (function.exported || function.root) return Choice::unconditional;
    bool uses = (scan_.functions[i].features & features_of_tier(kTiers[tier])) != 0;
    bool kernel = uses && result_.asks;  // may be in a table of kernels
    if (!has_referrer(i)) return kernel ? Choice::pointer : Choice::unconditional;
    return pointed_[i] && !kernel ? Choice::unconditional : Choice::called;
  }

  bool may_be_mixed(std::uint32_t i, std::size_t tier) const {
    const Function& function = map_.functions[i];
    return result_.asks && function.name.empty() && !function.root && !function.exported &&
           (scan_.functions[i].features & features_of_tier(kTiers[tier])) != 0;
  }

  // Edges by where they come from, for spread().
  void sort_edges() {
    first_.resize(count_ + 1);
    for (const Edge& edge : edges_) ++first_[edge.from + 1];
    for (std::size_t i = 1; i <= count_; ++i) first_[i] += first_[i - 1];
    targets_.resize(edges_.size());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (const Edge& edge : edges_) targets_[next[edge.from]++] = edge.to;
  }

  void decide(std::size_t tier) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      Choice& choice = result_.choices[i][tier];
      choice = seed(i, tier);
      if (choice == Choice::unconditional) choice = hope(i, tier);
    }
    spread(tier);
    if (!is_mixed(tier)) return;
    // What no better reason holds for; then once more for what hangs on it.
    for (std::uint32_t i = 0; i < count_; ++i) {
      Choice& choice = result_.choices[i][tier];
      if (choice != Choice::unconditional) continue;
      choice = may_be_mixed(i, tier) ? Choice::mixed : hope(i, tier);
    }
    spread(tier);
  }

  // The greatest fixpoint: everything that may be dispatched is, until a referrer that is neither dispatched
  // nor asks takes it back, with all that hangs on it.
  void spread(std::size_t tier) {
    std::vector<std::uint32_t> lost;
    for (std::uint32_t i = 0; i < count_; ++i)
      if (result_.choices[i][tier] == Choice::unconditional && !asks_[i]) lost.push_back(i);
    while (!lost.empty()) {
      std::uint32_t from = lost.back();
      lost.pop_back();
      for (std::uint32_t at = first_[from]; at < first_[from + 1]; ++at) {
        Choice& choice = result_.choices[targets_[at]][tier];
        if (choice != Choice::called) continue;
        choice = Choice::unconditional;
        if (!asks_[targets_[at]]) lost.push_back(targets_[at]);
      }
    }
  }

  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
  };
  const ElfFile& file_;
  const FunctionMap& map_;
  const CodeScan& scan_;
  RelocationTypes types_;
  std::size_t count_;
  Dispatch result_;
  std::set<std::string> queries_;
  std::unordered_set<std::uint64_t> query_words_;
  std::unordered_map<std::uint64_t, std::uint32_t> slots_;  // GOT words that hold functions of this file
  std::vector<char> pointed_, resolver_, candidate_, asks_;
  std::vector<Tier> named_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> referrers_;        // counted, summed up
  std::vector<std::uint32_t> first_, targets_;  // of the edges from each function
};

}  // namespace

Dispatch find_dispatch(const ElfFile& file, const FunctionMap& map, const CodeScan& scan) {
  return Finder(file, map, scan).run();
}

Tier tier_of_folder(std::string_view path) {
  Tier tier = Tier::baseline;
  for (const auto& folder : dispatch_names().folders)
    if (contains(path, folder.part)) tier = std::max(tier, folder.tier);
  return tier;
}

}  // namespace kiln::evidence
