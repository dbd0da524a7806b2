#include "factory/recipe/accept.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/keys.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/recipe/recipe_needs.h"

namespace kiln {
namespace {

// The name of the file must be told from others: "*", "*.so" and "lib*" would switch the judgement off.
bool names_a_file(std::string_view pattern) {
  std::string_view name = pattern.substr(pattern.rfind('/') + 1);
  name = name.substr(0, name.find('.'));
  if (name.starts_with("lib")) name.remove_prefix(3);
  return std::any_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::string read_pattern(const JsonNode& node) {
  std::string pattern = read_text(node);
  if (!pattern.starts_with('/') && !pattern.starts_with("*/"))
    node.fail(fmt::format("expected a path in the image, found '{}'", pattern),
              "begin with / or with */, as in */libxgboost.so; * is any text");
  if (!names_a_file(pattern))
    node.fail(fmt::format("'{}' accepts more than one program or library", pattern),
              "write the file's name, as in */libxgboost.so");
  return pattern;
}

std::string read_method_of(const JsonNode& node, const Recipe& recipe) {
  std::vector<std::string> names;
  for (const Method& method : recipe.methods) names.push_back(method.name);
  return read_word_of(node, names, "a method of this recipe");
}

}  // namespace

void read_accept(const JsonNode& root, Recipe& recipe) {
  const auto list = root.find("accept");
  if (!list) return;
  for (const JsonNode& item : read_at_least_one(*list, "file")) {
    item.allow_only(keys_of("recipe/accept"));
    Acceptance acceptance;
    acceptance.file = {read_pattern(item.at("file")), read_text(item.at("reason"))};
    if (auto method = item.find("method")) acceptance.method = read_method_of(*method, recipe);
    if (auto versions = item.find("versions"))
      acceptance.versions = read_own_range(*versions, recipe.versions);
    acceptance.where = item.where();
    recipe.accept.push_back(std::move(acceptance));
  }
}

}  // namespace kiln
