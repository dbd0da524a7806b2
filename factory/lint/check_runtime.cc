// Graph compilers and what they need when a program runs: the table of data/runtime.json.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/check_cells.h"
#include "factory/recipe/component_value.h"

namespace kiln {
std::map<std::string_view, std::string_view> embedded_lint_data();

namespace lint {
namespace {

struct RuntimeNeed {
  std::string what;
  std::vector<std::string> packages;
  std::vector<std::string> components;
  std::vector<std::string> bases;
};

struct RuntimeNeeds {
  std::vector<std::string> names;
  std::string accelerator;  // "" = always
  std::vector<RuntimeNeed> needs;
};

std::vector<RuntimeNeeds> read_needs() {
  const auto data = embedded_lint_data();
  const JsonDocument document = JsonDocument::parse(data.at("runtime.json"), "runtime.json");
  std::vector<RuntimeNeeds> all;
  for (const JsonNode& node : document.root().at("compilers").items()) {
    auto accelerator = node.find("accelerator");
    RuntimeNeeds one{node.at("names").strings(), accelerator ? accelerator->string() : "", {}};
    for (const JsonNode& need : node.at("needs").items())
      one.needs.push_back({need.at("what").string(), need.at("packages").strings(),
                           need.at("components").strings(), need.at("bases").strings()});
    all.push_back(std::move(one));
  }
  return all;
}

// Every word of the scripts that stay in the image, and every package of their requirements files.
std::set<std::string> installed_words(const Cell& cell) {
  std::set<std::string> words;
  for (const CellPart& part : cell.parts) {
    if (!part.method->script.empty()) {
      const std::string& text = part.component->files.at(part.method->script).bytes;
      for (const ShellCommand& command : read_shell(text).commands)
        for (const ShellToken& word : command.words) words.insert(word.text.substr(0, word.text.find('=')));
    }
    for (const std::string& path : part.method->files) {
      if (!path.ends_with(".txt") || !is_for_cell(path, part, cell.has_gpu())) continue;
      for (const PipPackage& package :
           read_requirements_file(SourceFile(path, part.component->files.at(path).bytes)).packages)
        words.insert(package.extras.empty() ? package.name
                                            : fmt::format("{}[{}]", package.name, package.extras));
    }
    for (const auto& [name, value] : part.version->facts) {  // packages that a script takes from a fact
      for (std::size_t start = 0; start < value.size();) {
        std::size_t end = std::min(value.find(' ', start), value.size());
        words.insert(value.substr(start, std::min(value.find('=', start), end) - start));
        start = end + 1;
      }
    }
  }
  return words;
}

bool any_match(const std::vector<std::string>& patterns, const std::set<std::string>& words) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return glob_matches(pattern, word); });
  });
}

bool is_met(const RuntimeNeed& need, const Cell& cell, const std::set<std::string>& words) {
  if (any_match(need.packages, words)) return true;
  for (const CellPart& part : cell.parts) {
    if (any_match(need.components, {path_of(*part.component)})) return true;
    if (part.component->kind != Kind::base) continue;
    if (any_match(need.bases, {fmt::format("{}:{} {}", part.component->name, part.version->version.text(),
                                           part.method->image)}))
      return true;
  }
  return false;
}

}  // namespace

void check_runtime_of(const Cell& cell, CellReport& report) {
  static const std::vector<RuntimeNeeds> kNeeds = read_needs();
  std::set<std::string> words;
  for (const CellPart& part : cell.parts) {
    if (part.component->kind != Kind::compiler) continue;
    for (const RuntimeNeeds& needs : kNeeds) {
      if (!any_match(needs.names, {part.component->name}) ||
          (needs.accelerator == "nvidia" && !cell.has_nvidia()))
        continue;
      if (words.empty()) words = installed_words(cell);
      for (const RuntimeNeed& need : needs.needs)
        if (!is_met(need, cell, words))
          report.add("KL035", part.method->where,
                     fmt::format("{} ({}) needs {} when a program runs, and nothing in the image brings it",
                                 part.title(), part.method->name, need.what),
                     cell.id());
    }
  }
}

}  // namespace lint
}  // namespace kiln
