#include "factory/derive/derivation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/reading.h"
#include "factory/base/unique_name.h"

namespace kiln {
namespace {

constexpr std::string_view kRecordEnding = ".json";

AxisValues axes_from(const JsonNode& node) {
  AxisValues axes;
  for (const auto& [axis, value] : node.members()) axes.emplace(axis, value.line_of_text());
  if (axes.empty()) node.fail("expected at least one axis, found an empty object");
  return axes;
}

Digest digest_from(const JsonNode& node) {
  try {
    return Digest::parse(node.string());
  } catch (const Error& error) {
    node.fail(error.message());
  }
}

}  // namespace

Json to_json(const Derivation& derivation) {
  Json parents = Json::array();
  for (const AxisValues& axes : derivation.parents) parents.push_back(axes);
  return {{"schema", 1},
          {"name", derivation.name},
          {"matrix", derivation.matrix},
          {"parents", std::move(parents)},
          {"recipes", derivation.recipes.text()}};
}

Derivation derivation_from_json(const JsonNode& node) {
  node.allow_only({"schema", "name", "matrix", "parents", "recipes"});
  node.at("schema").integer(1, 1);
  Derivation derivation;
  derivation.name = node.at("name").name();
  if (const std::string refused = refused_name(derivation.name); !refused.empty())
    node.at("name").fail(refused);
  derivation.matrix = node.at("matrix").name();
  for (const JsonNode& parent : read_at_least_one(node.at("parents"), "cell"))
    derivation.parents.push_back(axes_from(parent));
  derivation.recipes = digest_from(node.at("recipes"));
  return derivation;
}

std::vector<Derivation> DerivedStore::all(const std::function<void(const Error&)>& tell) const {
  std::vector<Derivation> all;
  for (const std::string& name : files_->list(state_->derived())) {
    if (name.starts_with('.') || !name.ends_with(kRecordEnding)) continue;
    try {
      all.push_back(derivation_from_json(read_document(*files_, state_->derived() / name).root()));
    } catch (const Error& error) {
      tell(error);
    }
  }
  return all;
}

void DerivedStore::keep_recipes(const RecipeTexts& recipes) const {
  const fs::path folder = state_->derived_recipes(digest_of(recipes).hex());
  if (files_->is_directory(folder)) return;
  const fs::path aside = state_->derived_recipes() / ("." + unique_name());
  for (const auto& [path, bytes] : recipes) files_->write(aside / path, bytes);
  files_->rename(aside, folder);
}

void DerivedStore::record(const Derivation& derivation) const {
  files_->write(state_->derived(derivation.name), to_json(derivation).dump(1) + "\n");
}

void DerivedStore::forget(const std::string& name) const { files_->remove_all(state_->derived(name)); }

void DerivedStore::drop_unused() const {
  bool any_damaged = false;
  std::set<std::string> used;
  for (const Derivation& one : all([&](const Error&) { any_damaged = true; })) used.insert(one.recipes.hex());
  for (const std::string& name : files_->list(state_->derived_recipes()))
    if (name.starts_with('.') || (!any_damaged && !used.contains(name)))
      files_->remove_all(state_->derived_recipes() / name);
}

}  // namespace kiln
