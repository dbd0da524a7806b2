#include "factory/derive/application.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// Generated from factory/derive/scripts/* by cmake/embed.cmake.
std::map<std::string_view, std::string_view> embedded_application_scripts();

namespace {

constexpr std::size_t kLongestName = 63;
constexpr const char* kVersion = "1";  // the files decide the bits, so versions say nothing

// Writes the recipes, and remembers the components that the last one needs.
class ApplicationWriter {
 public:
  explicit ApplicationWriter(std::string name) : name_(std::move(name)) {}

  // `part`: "" for the application itself.
  void add(const std::string& part, const std::string& method, Json facts, Json body,
           const std::map<std::string, std::string>& files, const std::string& test = "") {
    const std::string component = part.empty() ? name_ : name_ + "." + part;
    if (!below_.empty()) body["needs"] = {{{"kind", "application"}, {"name", below_}, {"version", kVersion}}};
    Json version = Json::object();
    if (!facts.empty()) version["facts"] = std::move(facts);
    Json recipe = {{"versions", {{kVersion, std::move(version)}}}, {"methods", {{method, std::move(body)}}}};
    recipe["description"] = part.empty() ? fmt::format("Application {}", name_)
                                         : fmt::format("Application {}: its {}", name_, part);
    if (!test.empty()) recipe["test"] = {{"script", test}};
    const std::string folder = fmt::format("application/{}/", component);
    texts_[folder + "recipe.json"] = recipe.dump(1) + "\n";
    for (const auto& [file, bytes] : files) texts_[folder + file] = bytes;
    below_ = component;
  }

  RecipeTexts take() { return std::move(texts_); }

 private:
  std::string name_;
  std::string below_;
  RecipeTexts texts_;
};

std::string script_named(std::string_view name) {
  return std::string(embedded_application_scripts().at(name));
}

}  // namespace

RecipeTexts application_recipes(const std::string& name, const ApplicationInputs& inputs) {
  ApplicationWriter writer(name);
  if (inputs.requirements)
    writer.add(
        "requirements", "pip", {},
        {{"script", "requirements.sh"},
         {"files", {"requirements.txt"}},
         {"parameters", {"KILN_FRAMEWORK_NAME"}}},
        {{"requirements.sh", script_named("requirements.sh")}, {"requirements.txt", *inputs.requirements}});
  const Json path = inputs.files ? Json{{"path", inputs.files_at}} : Json::object();
  if (inputs.files)
    writer.add("files", "source", path,
               {{"script", "files.sh"}, {"files", {"files.tar"}}, {"parameters", {"KILN_FACT_PATH"}}},
               {{"files.sh", script_named("files.sh")}, {"files.tar", *inputs.files}});
  Json body = Json::object();
  std::map<std::string, std::string> files;
  if (inputs.run) {
    body["script"] = "run.sh";
    files.emplace("run.sh", *inputs.run);
    if (inputs.files) body["parameters"] = {"KILN_FACT_PATH"};
  }
  if (inputs.test) files.emplace("test.sh", *inputs.test);
  writer.add("", "source", inputs.run ? path : Json::object(), std::move(body), files,
             inputs.test ? "test.sh" : "");
  return writer.take();
}

Digest digest_of(const RecipeTexts& recipes) {
  Json all = Json::object();
  for (const auto& [path, bytes] : recipes) all[path] = Digest::of(bytes).text();
  return Digest::of(all.dump());
}

std::string refused_name(const std::string& name) {
  auto is_first = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > kLongestName || !is_first(name.front()) || !is_first(name.back()) ||
      !std::all_of(name.begin(), name.end(), [&](char c) { return is_first(c) || c == '_' || c == '-'; }))
    return fmt::format(
        "a name has 1 to {} characters of a-z, 0-9, '_' and '-', the first and last of a-z and "
        "0-9",
        kLongestName);
  for (std::string_view pair : {"__", "_-", "-_"})
    if (name.find(pair) != std::string::npos) return fmt::format("no registry takes a name with '{}'", pair);
  if (name == "none" || kind_from(name)) return "the word means something else in a matrix";
  return "";
}

}  // namespace kiln
