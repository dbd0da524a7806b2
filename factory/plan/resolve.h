// resolve: ImageRequest → ImageSpec. Every version, flag and script fixed, its key computed. Pure.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/microarchitecture.h"
#include "plan/expand.h"
#include "plan/flags.h"
#include "plan/recipe.h"
#include "plan/target.h"

namespace kiln {

enum class StepKind { rootfs, pull, run, copy, test };
std::string_view name_of(StepKind kind);
StepKind step_kind_from(std::string_view name);  // throws Error(input)

// A node of the plan. `key` = sha256 of `inputs`: everything that can change the bits, and nothing else.
struct Step {
  std::string key;  // 64 hex digits
  StepKind kind = StepKind::run;
  std::string parent;  // key of the step it builds on, "" for rootfs and pull
  std::string from;    // copy: key of the build stage's last step
  std::string inputs;  // canonical JSON: kind, parent key, parameters, script digests; see step_pattern.cc
  // What must not enter the key:
  std::string title;      // "pytorch 2.6.0 (distro)"
  std::string component;  // "framework/pytorch"
  std::string version;    // of the component
  std::string method;
  std::string tagged;  // pull that the lockfile pins: the recipe's own reference, for people
  // How to run it; all of it is covered by `inputs`.
  std::string reference;                          // pull; name@sha256:… where the lockfile pins it
  std::string script;                             // path inside the recipe folder
  std::map<std::string, std::string> parameters;  // environment of the script
  std::vector<std::string> files;                 // paths inside the recipe folder, script included
  std::vector<std::string> copy;                  // copy: absolute paths
};

// `inputs` to look into.
Json inputs_of(const Step& step);

// A chain of steps on one base. The last stage of an image is the image; the others are thrown away.
struct Stage {
  std::string name;  // "build-openblas", "image"
  std::vector<Step> steps;
};

struct ComponentUse {
  Kind kind = Kind::framework;
  std::string name;
  Version version;
  std::string method;
  bool optimised = false;
  bool automatic = false;  // added because another one needs it
  std::string written{};   // as the cell has it: "openblas@0.3.29:source"; "" when automatic
  bool operator==(const ComponentUse&) const = default;
};

struct ImageSpec {
  ImageRequest request;
  std::string repository;  // the framework's name, or the first component's that is not a base
  std::string tag;
  std::string immutable_tag;
  std::string key;  // 64 hex digits: last step, environment and command
  Target target;
  std::vector<ComponentUse> components;  // in layering order
  std::vector<Stage> stages;
  std::vector<Step> tests;  // one for each component that has a test, parent = last step of the image
  std::map<std::string, std::string> environment;  // of the image
  std::vector<std::string> command;
  std::map<std::string, std::string> labels;  // not in the key
  std::vector<FlagOrigin> flags;
  bool optimised = false;  // any component is

  const Stage& image_stage() const { return stages.back(); }
  const Step& last_step() const { return stages.back().steps.back(); }
};

struct ResolveInput {
  const RecipeBook& recipes;
  const TargetBook& targets;
  const Microarchitectures& cpus;
};

// An ImageSpec, or the reason why this combination cannot be (an unmet need, a method that the version does
// not offer). Errors in what was written (unknown component, unknown version) are Error(input).
std::variant<ImageSpec, ExcludedCell> resolve(const ImageRequest& request, const ResolveInput& input);

// The component that an image is named after: the framework, else the first in layering order that the cell
// names and that is not a base, else the base. REQUIRES: not empty.
const ComponentUse& main_component(const std::vector<ComponentUse>& components);

// The OCI repository of that component: its name in lower case.
std::string repository_of(const ComponentUse& main);

// What the record of a packaged image is called: its key, and 12 hex digits that cover its name and labels.
// Images of equal bits keep records of their own, and new labels ask for a new manifest, not for a build.
std::string record_name(const ImageSpec& spec);

// The tag: `<version>-<method>[-<library>…][-<compiler>…][-<distributed>…][-<optimise>]-<cpu>[-<gpu>…]-<os>`,
// at most 128 characters (a longer one ends in a hash of itself). Automatic components are not in it; a
// version or method that the cell writes on a component axis is: `openblas0.3.29.source`. `optimise` is the
// value of that axis: `o3+lto` becomes `o3-lto`.
std::string make_tag(const std::vector<ComponentUse>& components, const Target& target,
                     const std::string& optimise = "");

// `<tag>-<first 12 of the key>`, at most 128 characters.
std::string make_immutable_tag(const std::string& tag, const std::string& key);

// The labels of an image: org.opencontainers.image.* and io.kiln.*. Not in any key. REQUIRES: the rest of the
// spec is set.
std::map<std::string, std::string> make_labels(const ImageSpec& spec, const RecipeBook& recipes);

}  // namespace kiln
