#include "factory/cli/complete.h"

#include <fmt/format.h>

#include <set>

#include "factory/cli/complete_words.h"
#include "factory/cli/print.h"

namespace kiln {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;
using Given = std::map<std::string, std::string>;

std::string given_or(const Given& given, const std::string& name, const std::string& variable,
                     const Invocation& invocation) {
  if (auto found = given.find(name); found != given.end()) return found->second;
  auto found = invocation.environment.find(variable);
  return found == invocation.environment.end() ? "" : found->second;
}

// Ids, and `axis=` of every axis; once there is an `axis=`, its values.
Words cells(const Given& given, const std::string& current, Invocation& invocation) {
  std::string file = given_or(given, "file", "KILN_FILE", invocation);
  if (file.empty()) return {};
  const BuildPlan plan = invocation.load(file).plan;
  std::size_t equals = current.find('=');
  std::set<std::string> axes;
  Words words;
  for (std::size_t number = 0; number < plan.size(); ++number) {
    const ImageRequest request = plan.image(number).request();
    if (equals == std::string::npos) words.emplace_back(request.id, plan.image(number).reference());
    for (const auto& [axis, value] : request.axes) {
      if (equals == std::string::npos)
        axes.insert(axis + "=");
      else if (axis == current.substr(0, equals))
        axes.insert(axis + "=" + value);
    }
  }
  for (const std::string& axis : axes) words.emplace_back(axis, "");
  return words;
}

Words workloads(const Given& given, Invocation& invocation) {
  std::string file = given_or(given, "file", "KILN_FILE", invocation);
  Words words;
  if (file.empty()) return words;
  for (const std::string& name : invocation.load(file).recipes.names(Kind::workload))
    words.emplace_back(name, "");
  return words;
}

Words images(Invocation& invocation) {
  Words words;
  if (!invocation.has_index()) return words;
  for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
    words.emplace_back(entry.image.name(), entry.image.cpu);
  return words;
}

Words applications(Invocation& invocation) {
  Words words;
  if (!invocation.has_index()) return words;
  for (const auto& [name, images] : invocation.index(Index::Mode::read).applications({}))
    words.emplace_back(name, "");
  return words;
}

Words dynamic_values(const std::string& label, const Given& given, const std::string& current,
                     Invocation& invocation) {
  try {
    if (label == "CELL") return cells(given, current, invocation);
    if (label == "WORKLOAD") return workloads(given, invocation);
    if (label == "IMAGE") return images(invocation);
    if (label == "APPLICATION") return applications(invocation);
  } catch (const Error&) {
    return {};
  }
  return {};
}

// The options that say where files are, as far as the line has them.
void apply(const Given& given, GlobalOptions& options) {
  options.quiet = true;
  if (auto found = given.find("directory"); found != given.end()) {
    std::error_code ignored;
    fs::current_path(found->second, ignored);
  }
  if (auto found = given.find("state"); found != given.end()) options.state = found->second;
  if (auto found = given.find("recipes"); found != given.end()) options.recipes = {found->second};
}

std::string_view word_for(PathKind kind) {
  switch (kind) {
    case PathKind::files:
      return "files";
    case PathKind::folders:
      return "folders";
    case PathKind::none:
      break;
  }
  return "none";
}

// A line is a word, a tab and a description: neither may hold a tab or a line break.
std::string flat(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

}  // namespace

void print_completions(const CLI::App& app, std::vector<std::string> words, Invocation& invocation) {
  std::string current = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  if (auto state = invocation.environment.find("KILN_STATE"); state != invocation.environment.end())
    invocation.options.state = state->second;
  bool applied = false;
  Completion found = complete_words(
      app, words, current, [&](const std::string& label, const Given& given, const std::string& part) {
        if (!applied) apply(given, invocation.options);
        applied = true;
        return dynamic_values(label, given, part, invocation);
      });
  say("{}\n", word_for(found.paths));
  for (const auto& [word, text] : found.words) say("{}\t{}\n", flat(word), flat(text));
}

}  // namespace kiln
