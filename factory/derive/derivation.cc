#include "factory/derive/derivation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/reading.h"
#include "factory/expand/expand.h"
#include "factory/recipe/recipe.h"

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

constexpr const char* kApplicationAxis = "application";
constexpr const char* kApplicationFolder = "application";

std::set<std::string> cells_of(const Matrix& matrix, const RecipeBook& recipes) {
  const Expansion expansion = expand(matrix, recipes);
  std::set<std::string> ids;
  for (std::size_t cell = 0; cell < expansion.size(); ++cell) ids.insert(expansion.id(cell));
  return ids;
}

MatrixGroup group_of(const Derivation& derivation, const AxisValues& parent, const SourceLocation& where) {
  MatrixGroup group;
  group.name = derivation.name;
  for (const auto& [axis, value] : derived_axes(parent, derivation.name))
    group.axes.push_back({axis, {value}, where});
  return group;
}

// What lies in a folder of recipes: application/COMPONENT/FILE.
RecipeTexts texts_in(const fs::path& folder, const FileSystem& files) {
  RecipeTexts texts;
  for (const std::string& component : files.list(folder / kApplicationFolder))
    for (const std::string& file : files.list(folder / kApplicationFolder / component)) {
      const std::string path = fmt::format("{}/{}/{}", kApplicationFolder, component, file);
      texts[path] = files.read(folder / path).value_or("");
    }
  return texts;
}

// Whether the folder is there with the bytes that it is named by.
bool is_whole(const fs::path& folder, const Digest& digest, const FileSystem& files) {
  return files.is_directory(folder) && digest_of(texts_in(folder, files)) == digest;
}

void add_recipes(RecipeBook& recipes, const fs::path& folder, const FileSystem& files) {
  const RecipeBook own = RecipeBook::read(files, {folder});
  for (const auto& [key, recipe] : own.all()) recipes.add(recipe);
  for (const auto& [key, broken] : own.broken()) recipes.add_broken(broken);
}

SourceLocation record_of(const Derivation& derivation, const StatePaths& state) {
  return {state.derived(derivation.name).string(), 0, 0, ""};
}

// At a record that was not written so.
Error damage_at(const SourceLocation& where, const std::string& what) {
  return Error(ExitCode::store, where, what,
               "derive the application again, or remove it with `kiln derive --remove`");
}

std::optional<Error> damage_of_recipes(const Derivation& derivation, const StatePaths& state,
                                       const FileSystem& files) {
  const fs::path folder = state.derived_recipes(derivation.recipes.hex());
  if (is_whole(folder, derivation.recipes, files)) return std::nullopt;
  return damage_at(record_of(derivation, state),
                   files.is_directory(folder)
                       ? fmt::format("the application's recipes in {} are damaged", folder.string())
                       : "the application's recipes are missing");
}

}  // namespace

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
    const fs::path file = state_->derived() / name;
    try {
      Derivation one = derivation_from_json(read_document(*files_, file).root());
      if (one.name + std::string(kRecordEnding) == name)
        all.push_back(std::move(one));
      else
        tell(damage_at({file.string(), 0, 0, ""}, fmt::format("the record is of the name '{}'", one.name)));
    } catch (const Error& error) {
      tell(damage_at(error.where(), error.message()));
    }
  }
  return all;
}

std::vector<Error> DerivedStore::damage() const {
  std::vector<Error> found;
  for (const Derivation& one : all([&](const Error& error) { found.push_back(error); }))
    if (auto of_recipes = damage_of_recipes(one, *state_, *files_)) found.push_back(*std::move(of_recipes));
  return found;
}

bool DerivedStore::has(const std::string& name) const {
  return refused_name(name).empty() && files_->exists(state_->derived(name));
}

void DerivedStore::keep_recipes(const RecipeTexts& recipes) const {
  const Digest digest = digest_of(recipes);
  const fs::path folder = state_->derived_recipes(digest.hex());
  if (is_whole(folder, digest, *files_)) return;
  files_->remove_all(folder);
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

AxisValues derived_axes(const AxisValues& parent, const std::string& name) {
  AxisValues axes = parent;
  axes[kApplicationAxis] = name;
  return axes;
}

void add_derived_cells(Matrix& matrix, RecipeBook& recipes, const std::vector<Derivation>& derivations,
                       const StatePaths& state, const FileSystem& files,
                       const std::function<void(const Error&)>& tell) {
  std::vector<const Derivation*> own;
  for (const Derivation& derivation : derivations)
    if (derivation.matrix == matrix.name) own.push_back(&derivation);
  if (own.empty()) return;
  const std::set<std::string> cells = cells_of(matrix, recipes);
  for (const Derivation* derivation : own) {
    const SourceLocation where = record_of(*derivation, state);
    if (const auto damage = damage_of_recipes(*derivation, state, files)) {
      tell(*damage);
      continue;
    }
    add_recipes(recipes, state.derived_recipes(derivation->recipes.hex()), files);
    for (const AxisValues& parent : derivation->parents) {
      if (cells.contains(cell_id(parent)))
        matrix.groups.push_back(group_of(*derivation, parent, where));
      else
        tell(Error(ExitCode::no_match, where,
                   fmt::format("the matrix '{}' no longer has the cell {}", matrix.name, cell_id(parent))));
    }
  }
}

}  // namespace kiln
