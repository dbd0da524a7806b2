// An ImageSpec made by hand, with every kind of step in it, for the tests of rendering.
#pragma once

#include <algorithm>
#include <string>

#include "factory/base/digest.h"
#include "factory/plan/build_plan.h"
#include "factory/recipe/recipe.h"
#include "factory/render/render.h"

namespace kiln::testing {

inline Step sample_step(StepKind kind, const std::string& title, const std::string& component,
                        const Step* parent) {
  Step step;
  step.kind = kind;
  step.title = title;
  step.component = component;
  if (parent != nullptr) step.parent = parent->key;
  step.key = Digest::of(step.parent + "\n" + title).hex();
  return step;
}

inline Step sample_script(StepKind kind, const std::string& title, const std::string& component,
                          const Step* parent, const std::string& script,
                          std::map<std::string, std::string> parameters) {
  Step step = sample_step(kind, title, component, parent);
  step.script = script;
  step.files = {script};
  step.parameters = std::move(parameters);
  return step;
}

inline ComponentUse sample_use(Kind kind, const std::string& name, const std::string& version) {
  ComponentUse use;
  use.kind = kind;
  use.name = name;
  use.version = Version(version);
  use.method = "distro";
  return use;
}

// pytorch on Debian with an OpenBLAS that is built in a stage of its own.
inline ImageSpec sample_spec() {
  ImageSpec spec;
  spec.request.id = "framework=pytorch,version=2.6.0,library=openblas,target=x86_64_v3";
  spec.repository = "pytorch";
  spec.tag = "2.6.0-distro-openblas-x86_64_v3-trixie";
  spec.key = Digest::of("image").hex();
  spec.target.name = "x86_64_v3";
  spec.components = {sample_use(Kind::base, "debian", "trixie"),
                     sample_use(Kind::library, "openblas", "0.3.29"),
                     sample_use(Kind::framework, "pytorch", "2.6.0")};

  Step base = sample_script(StepKind::rootfs, "debian trixie (distro)", "base/debian", nullptr, "rootfs.sh",
                            {{"KILN_VERSION", "trixie"}});
  Step build = sample_script(StepKind::run, "build openblas 0.3.29", "library/openblas", &base, "build.sh",
                             {{"CFLAGS", "-O2 -march=x86-64-v3"}, {"KILN_PREFIX", "/opt/kiln/openblas"}});
  build.files.emplace_back("patches/cc.patch");
  Step copy = sample_step(StepKind::copy, "openblas 0.3.29 (from its build)", "library/openblas", &base);
  copy.from = build.key;
  copy.copy = {"/opt/kiln/openblas", "/etc/ld.so.conf.d/openblas.conf"};
  Step install =
      sample_script(StepKind::run, "pytorch 2.6.0 (distro)", "framework/pytorch", &copy, "distro.sh",
                    {{"KILN_VERSION", "2.6.0"}, {"KILN_FACT_NOTE", "it's \"$HOME\""}});
  spec.tests = {sample_script(StepKind::test, "pytorch 2.6.0", "framework/pytorch", &install, "smoke.sh",
                              {{"KILN_VERSION", "2.6.0"}})};
  spec.stages = {{"build-openblas", {base, build}}, {"image", {base, copy, install}}};
  spec.environment = {{"LD_LIBRARY_PATH", "/opt/kiln/openblas/lib"}, {"NOTE", "it's \"$HOME\" \\"}};
  spec.labels = {{"org.opencontainers.image.title", "pytorch"},
                 {"org.opencontainers.image.version", "2.6.0"}};
  spec.command = {"python3", "-c", "print(\"it's on\")"};
  return spec;
}

// The same, whose pytorch is installed out of files of the build stage that the image never has.
inline ImageSpec sample_that_mounts() {
  ImageSpec spec = sample_spec();
  Step& install = spec.stages.back().steps.back();
  install.from = spec.stages.front().steps.back().key;
  install.mount = {"/opt/kiln/wheels", "/srv/list.txt"};
  return spec;
}

// Two images that share the base and the build stage; the second has one more step.
inline std::vector<ImageSpec> sample_images() {
  ImageSpec first = sample_spec();
  ImageSpec second = sample_spec();
  Step compiler = sample_script(StepKind::run, "inductor 2.6.0", "compiler/inductor", &first.last_step(),
                                "distro.sh", {});
  second.request.id += ",compiler=inductor: $x";
  second.tag = "2.6.0-distro-openblas-inductor-x86_64_v3-trixie";
  second.key = Digest::of("second").hex();
  second.stages.back().steps.push_back(compiler);
  second.tests = {
      sample_script(StepKind::test, "inductor 2.6.0", "compiler/inductor", &compiler, "smoke.sh", {})};
  return {first, second};
}

inline Recipe sample_component(Kind kind, const std::string& name, const std::vector<std::string>& files) {
  Recipe component;
  component.kind = kind;
  component.name = name;
  component.file = std::string(name_of(kind)) + "/" + name + "/recipe.json";
  for (const std::string& path : files) {
    std::string bytes = "# " + name + "/" + path + "\n";
    component.files[path] = {path, Digest::of(bytes), bytes};
  }
  return component;
}

inline RecipeBook sample_recipes() {
  RecipeBook recipes;
  recipes.add(sample_component(Kind::base, "debian", {"rootfs.sh"}));
  recipes.add(sample_component(Kind::library, "openblas", {"build.sh", "patches/cc.patch", "unused.sh"}));
  recipes.add(sample_component(Kind::framework, "pytorch", {"distro.sh", "smoke.sh"}));
  return recipes;
}

// What a recipe or a matrix could hold to break out of its place. No line ends: those are refused.
inline const std::vector<std::string>& hostile_values() {
  static const std::vector<std::string> values = {
      "",           "'",           "\"",       "\\",         "ends in \\",  "$HOME ${HOME} $(id) `id`",
      "{{ NAME }}", "{{{{",        "%post",    "  %test",    "# syntax=x",  "#",
      "EOF",        "<<EOF",       "RUN id",   "FROM x",     "&& id",       "; id",
      "| id",       "> /x",        "é ü 漢字", "'\\''",      "a'b\"c\\d$e", "--mount=x",
      "* ? [a-z]",  "~root",       "\t tab",   "%%",         "x={{ y }",    "\\n",
      "\\\\",       "\" && id \"", "$$ $: $ ", " leading",   "trailing ",   "'{{'",
      "%labels x",  "${{ a }}",    "!history", "\xc3\xa9{{", "-e",          "\x7f",
  };
  return values;
}

// Calls `check` with a spec in which every free text is the hostile value.
template <typename Check>
void for_each_hostile_spec(Check check) {
  for (const std::string& value : hostile_values()) {
    ImageSpec spec = sample_spec();
    spec.request.id += value;
    spec.target.name += value;
    spec.labels["org.opencontainers.image.description"] = value;
    spec.environment["HOSTILE"] = value;
    spec.command.push_back(value);
    for (Stage& stage : spec.stages) {
      for (Step& step : stage.steps) {
        step.title += value;
        if (!step.script.empty()) step.parameters["HOSTILE"] = value;
      }
    }
    for (Step& test : spec.tests) test.parameters["HOSTILE"] = value;
    check(spec, value);
  }
}

}  // namespace kiln::testing
