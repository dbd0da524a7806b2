#include "registry/select/dsl_words.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"

namespace kiln {

std::optional<JsonNode> present(const JsonNode& object, std::string_view key) {
  auto found = object.find(key);
  return found && !found->is_null() ? found : std::nullopt;
}

std::string scalar_text(const JsonNode& node, const WrittenNumbers& numbers) {
  if (node.is_number())
    if (const auto written = numbers.find(node.pointer()); written != numbers.end()) return written->second;
  if (node.is_string()) return lower_case(node.line_of_text());
  if (node.is_number() || node.is_boolean()) return node.value().dump();
  node.fail(fmt::format("expected a string, a number or a boolean, found {}", describe_type(node.value())));
}

namespace {

// Components of a list, as a matrix joins them.
std::string listed_components(const JsonNode& list) {
  std::string joined;
  for (const JsonNode& item : list.items()) {
    const std::string name = lower_case(item.name());
    if (name == "true" || name == "false")
      item.fail(fmt::format("expected a component's name, found '{}'", name),
                "write true or false without a list");
    joined += (joined.empty() ? "" : "+") + name;
  }
  if (joined.empty())
    list.fail("expected at least one component, found an empty list",
              "write false for none; without the key, any will do");
  return joined;
}

}  // namespace

std::vector<std::string> chosen_components(const std::string& value) {
  const std::vector<std::string_view> names = split(value, '+');
  return {names.begin(), names.end()};
}

std::string choice_text(const JsonNode& node, const WrittenNumbers& numbers) {
  if (node.is_array()) return listed_components(node);
  std::string text = scalar_text(node, numbers);
  const bool yes = text == "yes" || text == "on";
  if (yes || text == "no" || text == "off")
    node.fail(fmt::format("expected true, false or the word of a choice, found '{}'", text),
              yes ? "write true" : "write false");
  return text;
}

bool flag(const JsonNode& node) {
  if (node.is_boolean()) return node.boolean();
  std::string text = node.is_string() ? lower_case(node.string()) : "";
  if (text != "true" && text != "false") {
    std::string found = node.is_string() ? "'" + text + "'" : describe_type(node.value());
    node.fail(fmt::format("expected true or false, found {}", found));
  }
  return text == "true";
}

std::string word_of(const JsonNode& node, const std::vector<std::string>& allowed, std::string_view what) {
  std::string text = lower_case(node.string());
  if (!text.empty() && !contains(allowed, text)) {
    node.fail(fmt::format("invalid {} '{}': expected {}", what, text, fmt::join(allowed, ", ")),
              did_you_mean(text, allowed));
  }
  return text;
}

}  // namespace kiln
