#include "factory/recipe/matrix_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/keys.h"
#include "factory/base/reading.h"
#include "factory/recipe/component_value.h"
#include "factory/recipe/optimise.h"
#include "factory/recipe/recipe.h"

namespace kiln {
namespace {

constexpr const char* kComponentForm = "none, or name[@version][:method], several joined by '+'";

// What follows a "+" in a version (1.5.1+cpu) reads as a component of its own: such versions are asked for
// without it.
void check_components(Kind kind, const JsonNode& node, const std::string& text) {
  const auto& methods = method_names();
  const std::vector<ComponentValue> values = parse_component_values(kind, text, node.where());
  for (const ComponentValue& value : values) {
    if (!is_name(value.name) || !(value.version.empty() || is_name(value.version)))
      node.fail(fmt::format("expected a component, found '{}'", value.text), kComponentForm);
    if (value.name == "none") node.fail(fmt::format("'none' stands alone, found '{}'", text));
    if (!value.method.empty() && std::find(methods.begin(), methods.end(), value.method) == methods.end())
      node.fail(fmt::format("unknown method '{}' in '{}'", value.method, value.text),
                nearest(value.method, methods).empty() ? fmt::format("methods: {}", fmt::join(methods, ", "))
                                                       : did_you_mean(value.method, methods));
  }
}

void check_target(const JsonNode& node, const std::string& text) {
  const bool good = std::all_of(text.begin(), text.end(), [](char c) {
    return is_name(std::string_view(&c, 1)) || std::string_view("_.-:,").find(c) != std::string_view::npos;
  });
  if (!good || !is_name(text.substr(0, text.find(','))))
    node.fail(fmt::format("expected a target, found '{}'", text),
              "such as x86_64_v3 or x86_64_v3,nvidia:sm_80");
}

// A glob over an axis' values: no blanks, which would be a sign of a version range on the wrong axis.
std::string read_glob(const JsonNode& node) {
  std::string text = read_text(node);
  if (text.find_first_of(" <>=") != std::string::npos)
    node.fail(fmt::format("expected a value or a glob, found '{}'", text),
              "version ranges stand on 'version' and facts");
  return text;
}

bool is_fact_key(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot != std::string::npos && kind_from(key.substr(0, dot)) && is_fact_name(key.substr(dot + 1));
}

[[noreturn]] void fail_key(const JsonNode& node, const std::string& key, PartialUse use) {
  std::string hint = did_you_mean(key, keys_of("matrix/cell"));
  if (const std::size_t dot = key.find('.'); dot != std::string::npos) {
    if (use != PartialUse::condition)
      hint = "facts stand in the conditions of constraints only";
    else if (kind_from(key.substr(0, dot)))
      hint = "a fact is <kind>.<name>, and its name small letters, digits and _";
    else
      hint = did_you_mean(key.substr(0, dot), kind_names());
  }
  if (hint.empty()) hint = fmt::format("axes: {}", fmt::join(keys_of("matrix/cell"), ", "));
  throw Error(ExitCode::input, node.where_key(key), fmt::format("unknown axis '{}'", key), hint);
}

}  // namespace

std::string read_axis_value(const std::string& name, const JsonNode& node) {
  if (node.is_array())
    node.fail("expected a string, found an array", "several components are joined: \"mkl+openmpi\"");
  std::string text = read_text(node);
  if (name == "version")
    read_range(node);
  else if (name == "method")
    read_word_of(node, method_names(), "a method");
  else if (name == "target")
    check_target(node, text);
  else if (name == "optimise")
    parse_optimise(text, node.where());
  else
    check_components(*kind_from(name), node, text);
  return text;
}

AxisValues read_partial(const JsonNode& node, PartialUse use) {
  AxisValues values;
  const auto& axes = keys_of("matrix/cell");
  for (const auto& [key, value] : node.members()) {
    if (use == PartialUse::exclude && key == "reason") continue;
    const bool axis = std::find(axes.begin(), axes.end(), key) != axes.end();
    const bool fact = !axis && use == PartialUse::condition && is_fact_key(key);
    if (!axis && !fact) fail_key(node, key, use);
    if (use == PartialUse::include)
      values[key] = read_axis_value(key, value);
    else if (fact || key == "version")
      values[key] = read_range(value).text();
    else
      values[key] = read_glob(value);
  }
  if (values.empty()) node.fail("expected at least one axis, found an empty object");
  return values;
}

}  // namespace kiln
