// Step::inputs, the canonical JSON whose SHA-256 is the key:
//
//   {"component": "library/openblas", "files": {NAME: DIGEST}, "kind": "run", "parameters": {NAME: VALUE},
//    "parent": KEY, "schema": 1, "script": {"digest": "sha256:…", "name": "distro.sh"}}
//   a script that the site hands secrets: their names, "secrets": ["token", …], as well
//   rootfs: "architecture" as well;  pull: "architecture" and "reference";  copy: "copy" and "from"
//   rootfs and pull, for an engine that makes other bits than buildah: "engine", which keeps all upon it
//   apart a script that sees files of a build stage: "mount" and "from" as well a pull that the lockfile
//   pins: "digest" as well, and "reference" is the repository's name without a tag
//
// without blanks, keys sorted. File names are those inside the recipe folder: scripts can see them. Titles,
// descriptions, labels, caches, the engine and the place of the recipe on disk are not here.
#include "factory/resolve/step_pattern.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "factory/base/text.h"
#include "factory/oci/reference.h"
#include "factory/recipe/component_value.h"
#include "factory/recipe/recipe_needs.h"

namespace kiln {
namespace {

const RecipeFile& file_of(const Recipe& recipe, const std::string& path) {
  auto found = recipe.files.find(path);
  if (found != recipe.files.end()) return found->second;
  throw Error(ExitCode::input, {recipe.file, 0, 0, ""}, fmt::format("the file '{}' was not read", path));
}

// What a script may go by: parameters tell it of the finished image, and what its stage has lies around it.
bool is_beside(const When& when, const StepContext& context) {
  return !when.with || has(context.image, *when.with) || has(context.stage, *when.with);
}

// The files of the method that its scripts get here; each once.
std::vector<std::string> files_at(const Chosen& chosen, const StepContext& context) {
  const Method& method = *chosen.method;
  std::vector<std::string> files;
  for (std::size_t i = 0; i < method.files.size(); ++i) {
    const When when = method.file_when.empty() ? When{} : method.file_when[i];
    const bool is_there = holds(when, chosen.version->version, context.target) && is_beside(when, context);
    if (is_there && !contains(files, method.files[i])) files.push_back(method.files[i]);
  }
  return files;
}

void set_script(Step& step, Json& inputs, const Recipe& recipe, const std::string& script,
                const std::vector<std::string>& files, const std::vector<std::string>& secrets = {}) {
  step.secrets = secrets;
  if (!secrets.empty()) inputs["secrets"] = secrets;
  step.script = script;
  step.files = {script};
  inputs["script"] = {{"name", script}, {"digest", file_of(recipe, script).digest.text()}};
  Json others = Json::object();
  for (const std::string& file : files) {
    if (file == script) continue;
    others[file] = file_of(recipe, file).digest.text();
    step.files.push_back(file);
  }
  inputs["files"] = std::move(others);
  inputs["parameters"] = Json::object();
}

// What is pulled: by digest where the lockfile has one for this architecture, else by the recipe's reference.
void set_image(Step& step, Json& inputs, const Chosen& base, const std::string& architecture) {
  step.reference = base_reference(*base.method, base.version->version);
  inputs["reference"] = step.reference;
  auto pin = base.version->pins.find(base.method->name);
  if (pin == base.version->pins.end()) return;
  auto digest = pin->second.digests.find(architecture);
  if (digest == pin->second.digests.end()) return;
  step.tagged = step.reference;
  step.reference = pinned_reference(step.tagged, digest->second);
  inputs["reference"] = repository_name(step.tagged);
  inputs["digest"] = digest->second.text();
}

std::vector<std::string> files_of_rootfs(std::vector<std::string> files, const Method& method) {
  for (const std::string& script : {method.archive, method.site})
    if (!script.empty() && !contains(files, script)) files.push_back(script);
  return files;
}

void set_base(Step& step, Json& inputs, const Chosen& chosen, std::vector<std::string> files,
              const BaseInputs& below) {
  const Method& method = *chosen.method;
  inputs["architecture"] = below.architecture;
  if (!below.engine_family.empty()) inputs["engine"] = below.engine_family;
  if (method.rootfs.empty()) return set_image(step, inputs, chosen, below.architecture);
  set_script(step, inputs, *chosen.component, method.rootfs, files_of_rootfs(std::move(files), method),
             method.secrets);
  step.site = method.site;
}

StepKind kind_of(StepRole role, const Method& method) {
  switch (role) {
    case StepRole::base:
      return method.rootfs.empty() ? StepKind::pull : StepKind::rootfs;
    case StepRole::copy:
      return StepKind::copy;
    case StepRole::test:
      return StepKind::test;
    case StepRole::install:
    case StepRole::build:
      break;
  }
  return StepKind::run;
}

// The dump of `inputs`, in pieces: the values of "from", "parameters" and "parent" are left out.
std::array<std::string, 4> cut(const Json& inputs) {
  std::array<std::string, 4> pieces;
  std::size_t piece = 0;
  const char* before = "{";
  for (const auto& [name, value] : inputs.items()) {
    pieces[piece] += before + Json(name).dump() + ':';
    before = ",";
    if (name == "from" || name == "parent") {
      pieces[piece] += '"';
      piece = name == "from" ? 1 : 3;
      pieces[piece] += '"';
    } else if (name == "parameters") {
      piece = 2;
    } else {
      pieces[piece] += value.dump();
    }
  }
  pieces[piece] += '}';
  return pieces;
}

}  // namespace

// REQUIRES: the files of the step were read with the recipe. `test`: of StepRole::test. `below`: for
// StepRole::base. Throws Error(input) for a file that was not read.
static StepPattern make_pattern(StepRole role, const Chosen& chosen, const SmokeTest* test,
                                const StepContext& context, const BaseInputs& below) {
  const Recipe& recipe = *chosen.component;
  const Method& method = *chosen.method;
  std::vector<std::string> files = files_at(chosen, context);
  StepPattern pattern;
  Step& step = pattern.step;
  step.kind = kind_of(role, method);
  step.component = path_of(recipe);
  step.version = chosen.version->version.text();
  step.method = method.name;
  step.limits = method.limits;
  step.title = fmt::format("{}{} {} ({})", role == StepRole::test ? "test " : "", recipe.name,
                           chosen.version->version.text(), method.name);
  if (role == StepRole::test && recipe.tests.size() > 1) step.title += ": " + test->script;
  Json inputs = {{"schema", 1}, {"kind", name_of(step.kind)}, {"component", step.component}, {"parent", ""}};
  switch (role) {
    case StepRole::base:
      set_base(step, inputs, chosen, std::move(files), below);
      break;
    case StepRole::copy:
      step.copy = method.build->copy;
      inputs["copy"] = step.copy;
      inputs["from"] = "";
      break;
    case StepRole::install:
      set_script(step, inputs, recipe, method.script, files, method.secrets);
      step.cache = method.cache;
      if (!method.build || method.build->mount.empty()) break;
      step.mount = method.build->mount;
      inputs["mount"] = step.mount;
      inputs["from"] = "";
      break;
    case StepRole::build:
      set_script(step, inputs, recipe, method.build->script, files, method.build->secrets);
      step.cache = method.cache;
      break;
    case StepRole::test:
      set_script(step, inputs, recipe, test->script, test->files);
      break;
  }
  pattern.inputs = cut(inputs);
  return pattern;
}

std::size_t PatternBook::SeenHash::operator()(const Seen& seen) const {
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(seen.role), std::hash<std::string>()(seen.files));
  for (const void* part : {static_cast<const void*>(seen.version), static_cast<const void*>(seen.method),
                           static_cast<const void*>(seen.test)})
    hash = mixed(hash, reinterpret_cast<std::uintptr_t>(part));
  return hash;
}

const StepPattern& PatternBook::of(StepRole role, const Chosen& chosen, const SmokeTest* test,
                                   const StepContext& context, const std::string& architecture) {
  Seen seen{role, chosen.version, chosen.method, test, role == StepRole::base ? architecture : "", ""};
  for (const When& when : chosen.method->file_when) {
    if (!when.target.empty()) seen.files += context.target.matches(when.target) ? '1' : '0';
    if (when.with) seen.files += is_beside(when, context) ? '1' : '0';
  }
  auto found = patterns_.find(seen);
  if (found == patterns_.end())
    found = patterns_
                .emplace(std::move(seen),
                         make_pattern(role, chosen, test, context, {architecture, engine_family_}))
                .first;
  return found->second;
}

void write_inputs(std::string& out, const StepPattern& pattern, std::string_view from,
                  std::string_view parameters, std::string_view parent) {
  const auto& [head, after_from, after_parameters, tail] = pattern.inputs;
  out.clear();
  out += head;
  if (!after_from.empty()) out += from;
  out += after_from;
  if (!after_parameters.empty()) out += parameters;
  out += after_parameters;
  out += parent;
  out += tail;
}

}  // namespace kiln
