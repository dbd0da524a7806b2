// Legacy images → recipe.json files and scripts.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/import/import_parts.h"
#include "factory/import/legacy_script.h"
#include "factory/recipe/parameters.h"
#include "factory/resolve/flags/gpu_flags.h"

namespace kiln {
namespace {

using Ordered = nlohmann::ordered_json;
using Files = std::map<std::string, std::string>;
using Cells = std::vector<ImportCell*>;
// What a script can tell images of one framework apart by.
struct Dimension {
  std::string parameter;
  std::function<std::string(const ImportCell&)> value;
};

const std::vector<Dimension>& dimensions() {
  static const std::vector<Dimension> kAll = {
      {"KILN_VERSION", [](const ImportCell& one) { return one.cell.version; }},
      {"KILN_CPU_TARGET", [](const ImportCell& one) { return one.cell.cpu; }},
      {"KILN_GPU_TARGETS",
       [](const ImportCell& one) {
         return gpu_targets(Target{"", one.cell.cpu, one.cell.accelerators, ""});
       }},
      {"KILN_COMPILER_NAME", [](const ImportCell& one) { return one.cell.compiler; }},
      {"KILN_BASE_NAME", [](const ImportCell& one) { return one.base.component; }},
      {"KILN_BASE_VERSION", [](const ImportCell& one) { return one.base.version; }},
  };
  return kAll;
}

using Dimensions = std::vector<Dimension>;

std::size_t classes(const Cells& cells, const Dimensions& by) {
  std::set<std::string> keys;
  for (const ImportCell* one : cells) {
    std::string key;
    for (const Dimension& dimension : by) key += dimension.value(*one) + "|";
    keys.insert(key);
  }
  return keys.size();
}

// The fewest dimensions that tell `cells` apart, `first` among them.
Dimensions telling(const Cells& cells, const Dimensions& first = {}) {
  Dimensions best = first;
  std::size_t most = classes(cells, first);
  std::size_t fewest = first.size();
  for (unsigned bits = 1; bits < 1u << dimensions().size(); ++bits) {
    Dimensions by = first;
    for (std::size_t i = 0; i < dimensions().size(); ++i)
      if ((bits >> i & 1u) != 0) by.push_back(dimensions()[i]);
    std::size_t count = classes(cells, by);
    if (count < most || (count == most && by.size() >= fewest)) continue;
    best = std::move(by);
    most = count;
    fewest = best.size();
  }
  return best;
}

bool has_commands(const ImportCell& one) {
  return !one.legacy.body.empty() || !one.legacy.build_body.empty();
}

// The variables with flags of the target's GPUs that the scripts read and do not set themselves. A compiler's
// flags need a compiler that kiln knows, which an imported base does not name.
std::set<std::string> flags_read_by(const Cells& cells) {
  std::set<std::string> names;
  auto in_name = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  for (ImportCell* one : cells) {
    const std::string text = one->legacy.build_body + one->legacy.body;
    for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
      const std::size_t begin = at + (text.compare(at, 2, "${") == 0 ? 2 : 1);
      std::size_t end = begin;
      while (end < text.size() && in_name(text[end])) ++end;
      const std::string name = text.substr(begin, end - begin);
      if (contains(text, "export " + name + "=")) continue;
      if (is_gpu_variable(name) && !one->cell.accelerators.empty()) names.insert(name);
      if (is_compiler_variable(name))
        one->legacy.note(
            0, "target-flags",
            fmt::format("a script reads ${}, which kiln sets only where a recipe names the compiler", name));
    }
  }
  return names;
}

class RecipeWriter {
 public:
  explicit RecipeWriter(std::vector<ImportCell>& cells) : cells_(cells) {}
  Files write();

 private:
  void write_bases();
  void write_libraries();
  void write_compilers();
  void write_framework(const std::string& name, const Cells& cells);
  Ordered method(const std::string& folder, const std::string& name, const Cells& cells,
                 const Dimensions& by);
  void name_scripts(const Cells& cells);
  std::string dispatch(const Cells& cells, const Dimensions& by,
                       const std::function<std::string(const ImportCell&)>& command);
  bool builds_apart(const Cells& cells);
  void write_test(const std::string& folder, const Cells& cells, const Dimensions& by, Ordered& recipe);
  static bool tests_differ(const Cells& cells);
  void recipe(const std::string& folder, const Ordered& json) {
    files_[folder + "/recipe.json"] = json.dump(2) + "\n";
  }

  std::vector<ImportCell>& cells_;
  Files files_;
  ImportEnvironments environments_;
};

Files RecipeWriter::write() {
  environments_ = share_environments(cells_);
  write_bases();
  write_libraries();
  write_compilers();
  std::map<std::string, Cells> frameworks;
  for (ImportCell& one : cells_) frameworks[one.cell.framework].push_back(&one);
  for (auto& [name, cells] : frameworks) write_framework(name, cells);
  return std::move(files_);
}

void RecipeWriter::write_bases() {
  std::map<std::string, Ordered> bases;
  for (const ImportCell& one : cells_) {
    Ordered& base = bases[one.base.component];
    if (base.is_null()) {
      Ordered method = {{"image", one.base.image}};
      if (!environments_.of_base[one.base.component].empty())
        method["environment"] = environments_.of_base[one.base.component];
      if (!one.legacy.base_body.empty()) {
        const std::string folder = "recipes/base/" + one.base.component;
        method["script"] = one.base.component + ".sh";
        files_[folder + "/" + one.base.component + ".sh"] = one.legacy.base_body;
        for (const auto& [path, bytes] : one.legacy.base_files) {
          files_[folder + "/" + path] = bytes;
          method["files"].push_back(path);
        }
      }
      base = {{"description", one.base.description},
              {"versions", Ordered::object()},
              {"methods", {{"hub", method}}}};
    }
    for (const std::string& version : {one.base.version, one.base.build_on})
      if (!version.empty() && !base["versions"].contains(version))
        base["versions"][version] = Ordered::object();
    if (!one.base.build_on.empty()) base["versions"][one.base.version]["build_on"] = one.base.build_on;
  }
  for (const auto& [name, base] : bases) recipe("recipes/base/" + name, base);
}

void RecipeWriter::write_libraries() {
  for (const auto& [name, environment] : environments_.of_library)
    recipe("recipes/library/" + name,
           {{"description", "Imported: environment variables that only some images set"},
            {"versions", {{"1", Ordered::object()}}},
            {"methods", {{"distro", {{"environment", environment}}}}}});
}

// What makes the compiler is in the framework's scripts, which see its name.
void RecipeWriter::write_compilers() {
  std::map<std::string, std::set<std::string>> methods;
  std::map<std::string, std::set<std::string>> frameworks;
  for (const ImportCell& one : cells_) {
    if (one.cell.compiler.empty()) continue;
    methods[one.cell.compiler].insert(one.cell.method);
    frameworks[one.cell.compiler].insert(one.cell.framework);
  }
  for (const auto& [name, all] : methods) {
    Ordered method = Ordered::object();
    if (frameworks[name].size() == 1)
      method["needs"] = Ordered::array({{{"kind", "framework"}, {"name", *frameworks[name].begin()}}});
    Ordered json = {
        {"description", fmt::format("Imported: {}, installed by the framework's own scripts", name)},
        {"versions", {{"0", Ordered::object()}}},
        {"methods", Ordered::object()}};
    for (const std::string& one : all) {
      json["methods"][one] = method;
      const Environment& environment = environments_.of_compiler[{name, one}];
      if (!environment.empty()) json["methods"][one]["environment"] = environment;
    }
    recipe("recipes/compiler/" + name, json);
  }
}

void RecipeWriter::name_scripts(const Cells& cells) {
  std::set<std::string> taken = {"test.sh",   "build.sh",  "hub.sh",   "pip.sh",
                                 "source.sh", "vendor.sh", "distro.sh"};
  for (ImportCell* one : cells) {
    std::string stem = component_name(one->legacy.stem);
    one->script = stem;
    for (int number = 2; taken.contains(one->script + ".sh"); ++number)
      one->script = fmt::format("{}-{}", stem, number);
    taken.insert(one->script + ".sh");
  }
}

void RecipeWriter::write_framework(const std::string& name, const Cells& cells) {
  const std::string folder = "recipes/framework/" + name;
  name_scripts(cells);
  Ordered json = {{"description", fmt::format("Imported: {}", name)},
                  {"versions", Ordered::object()},
                  {"methods", Ordered::object()}};
  std::map<std::string, Cells> methods;
  for (ImportCell* one : cells) {
    json["versions"][one->cell.version] = Ordered::object();
    methods[one->cell.method].push_back(one);
  }
  // Scripts that install see their own method only.
  Dimensions for_test =
      telling(cells, {{"KILN_METHOD", [](const ImportCell& one) { return one.cell.method; }}});
  // Tests see the parameters of the method, so each method names those that the test needs.
  if (!tests_differ(cells)) for_test.clear();
  for (const auto& [method_name, own] : methods) {
    Dimensions by = telling(own);
    json["methods"][method_name] = method(folder, method_name, own, by);
    std::set<std::string> parameters = flags_read_by(own);
    if (method_name == "source" && !parameters.empty()) json["methods"][method_name]["optimised"] = true;
    if (std::ranges::any_of(own, [](const ImportCell* one) { return has_commands(*one); }))
      for (const Dimension& dimension : by) parameters.insert(dimension.parameter);
    for (std::size_t i = 1; i < for_test.size(); ++i) parameters.insert(for_test[i].parameter);
    if (!parameters.empty()) json["methods"][method_name]["parameters"] = parameters;
  }
  write_test(folder, cells, for_test, json);
  recipe(folder, json);
}

// `case` over what tells the images apart, or the command alone where nothing does.
std::string RecipeWriter::dispatch(const Cells& cells, const Dimensions& by,
                                   const std::function<std::string(const ImportCell&)>& command) {
  if (by.empty()) return command(*cells[0]) + "\n";
  std::string subject;
  for (const Dimension& dimension : by)
    subject += fmt::format("{}${{{}:-}}", subject.empty() ? "" : "|", dimension.parameter);
  std::string text = fmt::format("# Which image's commands these are.\ncase \"{}\" in\n", subject);
  for (const ImportCell* one : cells) {
    std::string label;
    for (const Dimension& dimension : by)
      label += (label.empty() && &dimension == &by[0] ? "" : "|") + dimension.value(*one);
    text += fmt::format("{}) {} ;;\n", shell_text_word(label), command(*one));
  }
  text += fmt::format("*)\n  echo \"no image was imported for {}\" >&2\n  exit 1\n  ;;\nesac\n", subject);
  return text;
}

// A build stage belongs to a method: it stays one when all images of the method have it and copy the same.
bool RecipeWriter::builds_apart(const Cells& cells) {
  bool any = false;
  bool same = true;
  for (const ImportCell* one : cells) {
    any = any || !one->legacy.build_body.empty();
    same = same && !one->legacy.build_body.empty() && one->legacy.copies == cells[0]->legacy.copies &&
           !one->legacy.copies.empty();
  }
  for (const std::string& path : cells[0]->legacy.copies)
    same = same && path.starts_with('/') && is_recipe_path(std::string_view(path).substr(1));
  for (ImportCell* one : cells) {
    if (same || !any || one->legacy.build_body.empty()) continue;
    one->legacy.note(
        0, "build-stage",
        "its build stage runs in the image itself: other images of the method have none, or another");
    one->legacy.body = one->legacy.build_body + (one->legacy.body.empty() ? "" : "\n" + one->legacy.body);
  }
  return any && same;
}

Ordered RecipeWriter::method(const std::string& folder, const std::string& name, const Cells& cells,
                             const Dimensions& by) {
  Ordered json = Ordered::object();
  std::set<std::string> files;
  bool apart = builds_apart(cells);
  bool any = false;
  for (const ImportCell* one : cells) {
    any = any || !one->legacy.body.empty();
    if (!one->legacy.body.empty()) files_[folder + "/" + one->script + ".sh"] = one->legacy.body;
    if (apart) files_[folder + "/build-" + one->script + ".sh"] = one->legacy.build_body;
    for (const auto& [path, bytes] : one->legacy.files) {
      files_[folder + "/" + path] = bytes;
      files.insert(path);
    }
  }
  auto source = [&](const std::string& script, bool there) {
    return there ? fmt::format(". ./{}.sh", script) : std::string(":");
  };
  if (any && cells.size() == 1) {
    json["script"] = cells[0]->script + ".sh";
  } else if (any) {
    json["script"] = name + ".sh";
    for (const ImportCell* one : cells)
      if (!one->legacy.body.empty()) files.insert(one->script + ".sh");
    files_[folder + "/" + name + ".sh"] = dispatch(
        cells, by, [&](const ImportCell& one) { return source(one.script, !one.legacy.body.empty()); });
  }
  if (apart) {
    std::string script = cells.size() == 1 ? "build-" + cells[0]->script : "build-" + name;
    if (cells.size() > 1) {
      for (const ImportCell* one : cells) files.insert("build-" + one->script + ".sh");
      files_[folder + "/" + script + ".sh"] =
          dispatch(cells, by, [&](const ImportCell& one) { return source("build-" + one.script, true); });
    }
    json["build"] = {{"script", script + ".sh"}, {"copy", cells[0]->legacy.copies}};
  }
  if (!files.empty()) json["files"] = files;
  const Environment& environment = environments_.of_framework[{cells[0]->cell.framework, name}];
  if (!environment.empty()) json["environment"] = environment;
  return json;
}

bool RecipeWriter::tests_differ(const Cells& cells) {
  return std::ranges::any_of(
      cells, [&](const ImportCell* one) { return one->legacy.test != cells[0]->legacy.test; });
}

void RecipeWriter::write_test(const std::string& folder, const Cells& cells, const Dimensions& by,
                              Ordered& recipe) {
  bool any = false;
  bool same = true;
  for (ImportCell* one : cells) {
    if (one->legacy.test.empty()) one->legacy.note(0, "no-test", "the file has no test");
    any = any || !one->legacy.test.empty();
    same = same && one->legacy.test == cells[0]->legacy.test;
  }
  if (!any) return;
  recipe["test"] = {{"script", "test.sh"}};
  if (same) {
    files_[folder + "/test.sh"] = cells[0]->legacy.test;
    return;
  }
  std::set<std::string> files;
  std::string text = dispatch(cells, by, [&](const ImportCell& one) -> std::string {
    if (one.legacy.test.empty()) return "echo 'this image came without a test'";
    std::string file = "test-" + one.script + ".sh";
    files_[folder + "/" + file] = one.legacy.test;
    files.insert(file);
    return ". ./" + file;
  });
  files_[folder + "/test.sh"] = text;
  recipe["test"]["files"] = files;
}

}  // namespace

std::map<std::string, std::string> write_recipes(std::vector<ImportCell>& cells) {
  return RecipeWriter(cells).write();
}

}  // namespace kiln
