// Recipes and matrices written in the test itself, and archspec's real tables.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "factory/base/effects.h"
#include "factory/expand/expand.h"
#include "factory/plan/build_plan.h"
#include "factory/plan/plan_json.h"
#include "factory/resolve/resolve.h"

namespace kiln::testing {

inline const Microarchitectures& archspec() {
  static const Microarchitectures table =
      Microarchitectures::parse(RealFileSystem().read(KILN_ARCHSPEC_JSON).value(), KILN_ARCHSPEC_JSON);
  return table;
}

inline SourceLocation at(const std::string& file, int line, const std::string& pointer = "") {
  return {file, line, 3, pointer};
}

// A component whose versions are given newest first; methods and files are added by the calls below.
class RecipeDraft {
 public:
  RecipeDraft(Kind kind, const std::string& name, const std::vector<std::string>& versions) {
    component_.kind = kind;
    component_.name = name;
    component_.file = fmt::format("recipes/{}/{}/recipe.json", name_of(kind), name);
    component_.licenses = "MIT";
    for (const std::string& version : versions)
      component_.versions.push_back(
          {Version(version), {}, "", "", at(component_.file, 4, "/versions/" + version)});
  }

  // A method with a script "<name>.sh" whose bytes are `bytes`; without bytes there is nothing to install.
  RecipeDraft& method(const std::string& name, const std::string& bytes = "",
                      std::vector<std::string> parameters = {}) {
    Method method;
    method.name = name;
    method.parameters = std::move(parameters);
    method.where = at(component_.file, 8, "/methods/" + name);
    if (!bytes.empty()) method.script = file(name + ".sh", bytes);
    component_.methods.push_back(std::move(method));
    return *this;
  }
  RecipeDraft& rootfs(const std::string& bytes = "make a root file system") {
    method("distro");
    component_.methods.back().rootfs = file("rootfs.sh", bytes);
    return *this;
  }
  RecipeDraft& image(const std::string& reference) {
    method("hub");
    component_.methods.back().image = reference;
    return *this;
  }
  RecipeDraft& needs(Kind kind, const std::string& name, const std::string& range = "") {
    component_.methods.back().needs.push_back(need(kind, name, range));
    return *this;
  }
  RecipeDraft& needs_when(Kind kind, const std::string& name, const std::string& version,
                          const std::string& target) {
    needs(kind, name);
    component_.methods.back().needs.back().when = {VersionRange::parse(version), target};
    return *this;
  }
  RecipeDraft& needs_any(const std::vector<std::pair<Kind, std::string>>& options) {
    Need any = need(Kind::library, "", "");
    for (const auto& [kind, name] : options) {
      std::size_t at = name.find(' ');
      any.any.push_back(need(kind, name.substr(0, at), at == std::string::npos ? "" : name.substr(at + 1)));
    }
    component_.methods.back().needs.push_back(std::move(any));
    return *this;
  }
  RecipeDraft& after(const std::string& name) {
    component_.methods.back().after.push_back(name);
    component_.methods.back().after_where.push_back(component_.methods.back().where);
    return *this;
  }
  RecipeDraft& build(const std::string& bytes, const std::vector<std::string>& copy) {
    component_.methods.back().build = BuildStage{{}, file("build.sh", bytes), copy};
    return *this;
  }
  RecipeDraft& build_needs(Kind kind, const std::string& name, const std::string& range = "") {
    component_.methods.back().build->needs.push_back(need(kind, name, range));
    return *this;
  }
  RecipeDraft& for_versions(const std::string& range) {
    component_.methods.back().versions = VersionRange::parse(range);
    return *this;
  }
  RecipeDraft& environment(const std::string& name, const std::string& value) {
    component_.methods.back().environment[name] = {value};
    return *this;
  }
  RecipeDraft& optimised() {
    component_.methods.back().optimised = true;
    return *this;
  }
  RecipeDraft& reads(const std::string& path, const std::string& bytes) {
    component_.methods.back().files.push_back(file(path, bytes));
    return *this;
  }
  RecipeDraft& fact(const std::string& version, const std::string& name, const std::string& value) {
    for (ComponentVersion& one : component_.versions)
      if (one.version.text() == version) one.facts[name] = value;
    return *this;
  }
  RecipeDraft& test(const std::string& bytes) {
    component_.tests.push_back({file("smoke.sh", bytes), {}});
    return *this;
  }
  RecipeDraft& test_when(const std::string& bytes, const std::string& target,
                         const std::string& version = "") {
    component_.tests.push_back({file(fmt::format("smoke{}.sh", component_.tests.size()), bytes),
                                {},
                                {VersionRange::parse(version), target}});
    return *this;
  }
  Recipe& get() { return component_; }

 private:
  std::string file(const std::string& path, const std::string& bytes) {
    component_.files[path] = RecipeFile{path, Digest::of(bytes), bytes};
    return path;
  }
  Need need(Kind kind, const std::string& name, const std::string& range) const {
    return {kind, name, VersionRange::parse(range), at(component_.file, 11, "/methods/x/needs/0")};
  }
  Recipe component_;
};

inline RecipeBook book(std::vector<RecipeDraft> recipes) {
  RecipeBook book;
  for (RecipeDraft& recipe : recipes) book.add(recipe.get());
  return book;
}

// The demo's components in small: a base, gcc and python, two BLAS libraries, pytorch, jax and inductor.
inline std::vector<RecipeDraft> demo_recipes() {
  RecipeDraft gcc(Kind::toolchain, "gcc", {"14.2", "12.2"});
  gcc.method("distro", "install gcc", {"KILN_VERSION"});
  for (const char* version : {"14.2", "12.2"})
    gcc.fact(version, "compiler", "gcc").fact(version, "compiler_version", version);
  return {
      RecipeDraft(Kind::base, "debian", {"trixie", "bookworm"}).rootfs().fact("trixie", "suite", "trixie"),
      gcc,
      RecipeDraft(Kind::toolchain, "python", {"3.13", "3.11"})
          .method("distro", "install python", {"KILN_VERSION"}),
      RecipeDraft(Kind::library, "openblas", {"0.3.29", "0.3.28"})
          .method("distro", "install openblas")
          .optimised()
          .after("framework")
          .test("is it openblas")
          .method("source", "", {"KILN_VERSION", "CFLAGS"})
          .build("make openblas", {"/opt/kiln/openblas"})
          .build_needs(Kind::toolchain, "gcc"),
      RecipeDraft(Kind::framework, "pytorch", {"2.7.0", "2.6.0", "1.13.1"})
          .method("distro", "install pytorch", {"KILN_VERSION"})
          .needs(Kind::toolchain, "python", ">=3.11")
          .environment("TORCH_HOME", "/var/torch")
          .test("import torch")
          .method("pip", "pip install torch", {"KILN_VERSION"})
          .fact("2.6.0", "python", "3.13")
          .fact("1.13.1", "python", "3.10"),
      RecipeDraft(Kind::framework, "jax", {"0.10.2"}).method("pip", "pip install jax"),
      RecipeDraft(Kind::compiler, "inductor", {"2.6.0"})
          .method("distro")
          .needs(Kind::framework, "pytorch", ">=2.0")
          .needs(Kind::toolchain, "gcc", ">=12")
          .test("compiled code ran")};
}

inline Axis axis(const std::string& name, std::vector<std::string> values, int line = 5) {
  return {name, std::move(values), at("matrix/demo.json", line, "/axes/" + name)};
}

inline Partial partial(AxisValues values, int line = 12) {
  return {std::move(values), at("matrix/demo.json", line, "/exclude/0")};
}

inline Matrix matrix(std::vector<Axis> axes) {
  Matrix matrix;
  matrix.name = "demo";
  matrix.file = "matrix/demo.json";
  matrix.groups.push_back({"demo", std::move(axes), {}, {}});
  return matrix;
}

inline ImageRequest request(AxisValues axes) {
  std::string id = cell_id(axes);
  return {id, std::move(axes), at("matrix/demo.json", 5, "/axes/framework")};
}

// PyTorch 2.6.0 on Debian, with more axes or others.
inline AxisValues cell(AxisValues more = {}) {
  AxisValues axes = {
      {"framework", "pytorch"}, {"version", "2.6.0"}, {"base", "debian"}, {"target", "x86_64_v3"}};
  for (const auto& [axis, value] : more) axes[axis] = value;
  return axes;
}

inline std::vector<RecipeDraft> demo_recipes_with(RecipeDraft more) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  recipes.push_back(std::move(more));
  return recipes;
}

// Resolves with archspec's tables; fails the test when the cell is excluded.
class Resolver {
 public:
  explicit Resolver(std::vector<RecipeDraft> recipes = demo_recipes())
      : recipes_(book(std::move(recipes))), targets_(archspec()) {}
  ResolveInput input() const { return {recipes_, targets_, archspec()}; }
  std::variant<ImageSpec, ExcludedCell> run(AxisValues axes) const {
    return resolve(request(std::move(axes)), input());
  }

  ImageSpec spec(AxisValues axes) const {
    auto resolved = run(std::move(axes));
    if (auto* cell = std::get_if<ExcludedCell>(&resolved)) {
      ADD_FAILURE() << "excluded: " << cell->reason;
      return {};
    }
    return std::get<ImageSpec>(std::move(resolved));
  }
  std::string reason(AxisValues axes) const {
    auto resolved = run(std::move(axes));
    auto* cell = std::get_if<ExcludedCell>(&resolved);
    return cell == nullptr ? "not excluded" : cell->reason;
  }
  RecipeBook& recipes() { return recipes_; }
  TargetBook& targets() { return targets_; }

 private:
  RecipeBook recipes_;
  TargetBook targets_;
};

// The text of the Error(input) that `action` throws; "" and a failure when it throws none.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.format();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline std::vector<std::string> titles(const Stage& stage) {
  std::vector<std::string> titles;
  for (const Step& step : stage.steps)
    titles.push_back(fmt::format("{} {}", name_of(step.kind), step.component));
  return titles;
}

}  // namespace kiln::testing
