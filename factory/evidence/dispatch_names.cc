#include "factory/evidence/dispatch_names.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"

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
  std::stable_sort(variants.begin(), variants.end(),
                   [](const auto& a, const auto& b) { return a.tier > b.tier; });
  return variants;
}

Tier highest(const std::vector<DispatchNames::Variant>& variants, std::string_view symbol) {
  for (const auto& variant : variants)
    if (symbol.find(variant.part) != symbol.npos) return variant.tier;
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
  std::sort(names.queries.begin(), names.queries.end());
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
  return std::binary_search(queries.begin(), queries.end(), symbol.substr(0, version));
}

}  // namespace kiln::evidence
