// Builds that become others because of SOURCE_DATE_EPOCH, which kiln sets for every script.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/recipe_source.h"
#include "factory/source/shell.h"

namespace kiln::lint {
namespace {

struct EpochReader {
  std::string name;
  std::vector<std::string> sources, options, decided_by;
  std::string native, off, variants;
};

std::vector<EpochReader> read_epoch_readers() {
  std::vector<EpochReader> readers;
  const JsonDocument document = lint_data("epoch.json");
  for (const JsonNode& node : document.root().items()) {
    node.allow_only({"name", "sources", "options", "decided_by", "native", "off", "variants", "from"});
    node.at("from").line_of_text();
    readers.push_back({node.at("name").string(), node.at("sources").strings(), node.at("options").strings(),
                       node.at("decided_by").strings(), node.at("native").string(), node.at("off").string(),
                       node.at("variants").string()});
  }
  return readers;
}

const std::vector<EpochReader>& epoch_readers() {
  static const std::vector<EpochReader> kReaders = read_epoch_readers();
  return kReaders;
}

// What a shell reads of a script: comments decide nothing.
std::string words_of(const ShellText& shell) {
  std::string code;
  for (const ShellCommand& command : shell.commands)
    for (const ShellToken& word : command.words) code += word.text + ' ';
  return code;
}

bool configures(const Call& call) {
  if (call.program == "cmake") {
    constexpr std::string_view kOthers[] = {"--build", "--install", "-E",
                                            "-P",      "--version", "--find-package"};
    return std::none_of(std::begin(kOthers), std::end(kOthers),
                        [&](std::string_view option) { return call.has(option); });
  }
  return (call.program == "pip" || call.program == "pip3") && (call.has("install") || call.has("wheel"));
}

// CMake of this project, by an option of it or because the recipe's source is the project's; pip by the name
// of what it builds.
bool compiles_project(const EpochReader& reader, const Call& call, const std::string& sources) {
  if (!configures(call)) return false;
  auto named = [&](const ShellToken* word) { return contains_any(word->text, reader.sources); };
  if (std::any_of(call.arguments.begin(), call.arguments.end(), named)) return true;
  if (call.program != "cmake") return false;
  auto option = [&](const ShellToken* word) {
    return std::any_of(reader.options.begin(), reader.options.end(),
                       [&](const std::string& name) { return word->text.starts_with("-D" + name); });
  };
  return contains_any(sources, reader.sources) ||
         std::any_of(call.arguments.begin(), call.arguments.end(), option);
}

struct MethodScripts {
  const Method* method = nullptr;
  std::string sources;  // addresses of all versions that it offers
  std::vector<std::pair<const SourceFile*, ShellText>> scripts;
  std::string code;  // of all of them
};

MethodScripts scripts_of(const RecipeSource& recipe, const Method& method) {
  MethodScripts found{&method, {}, {}, {}};
  for (const ComponentVersion& version : recipe.component.versions)
    if (method.versions.contains(version.version)) found.sources += version.source_url + ' ';
  std::vector<std::string> paths{method.script, method.build ? method.build->script : ""};
  for (const std::string& path : method.files)
    if (path.ends_with(".sh")) paths.push_back(path);
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    const SourceFile& file = recipe.files.at(path);
    found.scripts.emplace_back(&file, read_shell(file.text()));
    found.code += words_of(found.scripts.back().second);
  }
  return found;
}

// "" when the build is what its script says.
std::string change_of(const EpochReader& reader, const MethodScripts& scripts) {
  if (scripts.code.find("SOURCE_DATE_EPOCH") != std::string::npos) return "";
  if (!contains_any(scripts.code, reader.decided_by))
    return fmt::format(
        "{} switches {} off because kiln sets SOURCE_DATE_EPOCH: this compiles baseline code{}", reader.name,
        reader.native, scripts.method->stock ? ", which is not the project's own build" : "");
  if (scripts.method->stock && scripts.code.find(reader.off) != std::string::npos &&
      scripts.code.find(reader.variants) == std::string::npos)
    return fmt::format("{} is not the project's own build: its default is {}, or {} in its releases",
                       reader.off, reader.native, reader.variants);
  return "";
}

void check_method(const EpochReader& reader, const MethodScripts& scripts, Report& report) {
  const std::string change = change_of(reader, scripts);
  if (change.empty()) return;
  for (const auto& [file, shell] : scripts.scripts)
    for (const ShellCommand& command : shell.commands)
      if (const Call call = call_of(command);
          call.word != nullptr && compiles_project(reader, call, scripts.sources))
        report.add("KL096", *file, call.word->span, change);
}

}  // namespace

void check_epoch(const RecipeSource& recipe, Report& report) {
  for (const Method& method : recipe.component.methods) {
    const MethodScripts scripts = scripts_of(recipe, method);
    for (const EpochReader& reader : epoch_readers()) check_method(reader, scripts, report);
  }
}

}  // namespace kiln::lint
