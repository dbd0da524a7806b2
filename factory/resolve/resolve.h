// resolve: Expansion → Resolution. Every version, flag and script of every image is fixed and its key
// computed. The second stage. Pure.
//
// The steps of all images stand once in a table and refer to each other by number: a step knows the one that
// it builds on, and one that copies or mounts files the last step of the build stage that has them. So the
// number of its last step says how an image is made. A complete Step or ImageSpec is made from the table on
// demand.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/hash_index.h"
#include "factory/base/json.h"
#include "factory/base/packed_map.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/expand/expand.h"
#include "factory/recipe/recipe.h"
#include "factory/recipe/target.h"
#include "factory/resolve/flags/flags.h"

namespace kiln {

enum class StepKind { rootfs, pull, run, copy, test };
std::string_view name_of(StepKind kind);
StepKind step_kind_from(std::string_view name);  // throws Error(input)

// A node of the plan. `key` = sha256 of `inputs`: everything that can change the bits, and nothing else.
struct Step {
  std::string key;  // 64 hex digits
  StepKind kind = StepKind::run;
  std::string parent;  // key of the step it builds on, "" for rootfs and pull
  std::string from;    // key of the last step of the build stage that `copy` or `mount` are of
  std::string inputs;  // canonical JSON: kind, parent key, parameters, script digests; see step_pattern.cc
  // Not part of the key:
  std::string title;      // "pytorch 2.6.0 (distro)"
  std::string component;  // "framework/pytorch"
  std::string version;    // of the component
  std::string method;
  OwnLimits limits;                  // that the recipe says it needs
  std::vector<std::string> cache{};  // names, sorted, of what its script finds again (recipe/parameters.h)
  std::string tagged;                // pull that the lockfile pins: the recipe's own reference, for people
  // How to run it; all of it is covered by `inputs`.
  std::string reference;                          // pull; name@sha256:… where the lockfile pins it
  std::string script;                             // path inside the recipe folder
  std::string site;                               // rootfs: another, run for each step on top of it
  std::map<std::string, std::string> parameters;  // environment of the script
  std::vector<std::string> files;                 // paths inside the recipe folder, script included
  std::vector<std::string> copy;                  // copy: absolute paths
  std::vector<std::string> mount;                 // run: absolute paths that the script sees while it runs
  std::vector<std::string> secrets;               // names, sorted; what they are is in no key
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
  bool automatic = false;              // added because another one needs it
  std::string written{};               // as the cell has it: "openblas@0.3.29:source"; "" when automatic
  std::vector<AcceptedFile> accept{};  // of its recipe, as far as they hold for version and method
  std::string role{};                  // Recipe::role
  bool operator==(const ComponentUse&) const = default;
};

// One complete image, without the rest of the plan.
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
  std::vector<const Step*> steps() const;  // of all stages in order, each once; build stages begin alike
};

struct StepPattern;
struct ScriptValues;

// The steps of many images. Rows of equal key are one step: kiln counts and lists the first row, in the order
// in which images need them. The other rows differ only in their display text, for example in the version of
// a component whose script does not read it.
class StepTable {
 public:
  using Number = HashIndex::Number;
  static constexpr Number kNone = HashIndex::kNone;  // no step: of "parent" and "from"

  Number size() const { return static_cast<Number>(rows_.size()); }
  const Sha256& key(Number step) const { return rows_[step].key; }
  std::string hex(Number step) const { return step == kNone ? "" : hex_of(rows_[step].key); }
  Number parent(Number step) const { return rows_[step].parent; }
  Number from(Number step) const { return rows_[step].from; }
  Number first(Number step) const { return rows_[step].first; }
  // The part that many images share: the step without key, parent, from, parameters and inputs.
  const Step& pattern(Number step) const;
  const std::vector<FlagOrigin>& flags(Number step) const;  // where its flags came from
  Step step(Number step) const;

  // The stages of the image that ends in `last`, the image itself last.
  struct StageSteps {
    std::string name;
    std::vector<Number> steps;
  };
  std::vector<StageSteps> stages(Number last) const;
  // Their steps in order of execution, each once.
  std::vector<Number> steps(Number last) const;
  // All of them in the order in which resolve laid them: a build stage is at the place of its first copy.
  std::vector<Number> laid(Number last) const;

  // Of resolve alone. The step of this pattern and these values on top of `parent`; `values` and
  // `environment` (a test's, of the image) may be null. REQUIRES: what is pointed to stays where it is.
  Number add(const StepPattern& pattern, const ScriptValues* values, const PackedMap* environment,
             Number parent, Number from);
  bool has_twins() const { return has_twins_; }  // rows of equal key
  // Of twins the one that `needed` has first becomes the first. Gives back what only adding needs. REQUIRES:
  // nothing is added afterwards.
  void close(const std::vector<Number>& needed);

 private:
  struct Row {
    Sha256 key;
    const StepPattern* pattern;
    const ScriptValues* values;
    const PackedMap* environment;
    Number parent;
    Number from;
    Number first;
  };
  static std::uint64_t hash_of(const Row& row);
  void append_parameters(const Row& row, std::string& out) const;
  Number first_of(const Sha256& key);
  struct Walked {
    std::vector<std::vector<Number>> stages;
    std::vector<Number> laid;
  };
  Walked walked(Number last) const;
  void walk(Number last, Walked& walked) const;

  std::deque<Row> rows_;
  bool has_twins_ = false;
  HashIndex by_key_;  // first rows
  HashIndex by_row_;  // by all but the key
  TextHasher hasher_;
  std::string text_;        // scratch
  std::string parameters_;  // scratch
};

struct ResolveInput {
  const RecipeBook& recipes;
  const TargetBook& targets;
  const Microarchitectures& cpus;
  // The family of the engine that runs the steps (engine_facts.h); buildah, podman and docker have
  // none: "". It is in the key of every base, so that engines of two families share no step.
  std::string engine_family = {};
};

struct ImageTable;

// One image of a Resolution, which it refers to.
class ResolvedImage {
 public:
  std::uint32_t cell() const;  // of the expansion
  ImageRequest request() const;
  std::string id() const;
  const std::string& repository() const;
  std::string tag() const;
  std::string reference() const { return repository() + ":" + tag(); }
  std::string immutable_tag() const;
  std::string key() const;  // 64 hex digits
  // Key of the image that has everything except the applications; "" for an image without applications.
  std::string parent_key() const;
  std::string record_name() const;
  const Target& target() const;
  const std::string& architecture() const;  // OCI's: "amd64", "arm64/v8"
  const std::vector<ComponentUse>& components() const;
  std::vector<StepTable::Number> steps() const;  // of all stages, in order of execution, each once
  std::vector<StepTable::Number> tests() const;
  ImageSpec spec() const;

 private:
  friend class Resolution;
  ResolvedImage(const Expansion& expansion, const ImageTable& table, std::size_t number)
      : expansion_(&expansion), table_(&table), number_(number) {}
  const Expansion* expansion_;
  const ImageTable* table_;
  std::size_t number_;
};

// A cell that is wanted and cannot be planned: a recipe or target that it needs is wrong. The others go on.
struct BrokenCell {
  ImageRequest request;
  Error why;
  std::string architecture;  // OCI's; "" where the target is what is wrong
};

// The images of an expansion, in cell order.
class Resolution {
 public:
  ~Resolution();
  Resolution(Resolution&&) noexcept;
  Resolution& operator=(Resolution&&) noexcept;

  const Expansion& expansion() const { return *expansion_; }
  const StepTable& steps() const;
  std::size_t size() const;
  ResolvedImage image(std::size_t number) const { return {*expansion_, *table_, number}; }
  // The cells that are no images: those of the expansion, then those that cannot be, without a
  // mistake.
  std::size_t excluded() const;
  ExcludedCell excluded(std::size_t number) const;
  std::size_t broken() const;  // how many
  BrokenCell broken(std::size_t number) const;

 private:
  friend Resolution resolve(Expansion expansion, const ResolveInput& input);
  Resolution(std::unique_ptr<const Expansion> expansion, std::unique_ptr<const ImageTable> table);
  std::unique_ptr<const Expansion> expansion_;  // stays where it is when this is moved
  std::unique_ptr<const ImageTable> table_;
};

// Shared parts of cells are found and hashed once: by target, by choice, and by the inputs of a script.
// Throws Error(input) for errors in the matrix: an unknown component, version or target.
Resolution resolve(Expansion expansion, const ResolveInput& input);

// The same of one cell alone: an image, or the reason why it cannot be (an unmet need, a method that the
// version does not offer). Throws Error(input) for a broken cell, too.
std::variant<ImageSpec, ExcludedCell> resolve(const ImageRequest& request, const ResolveInput& input);

// Label of an image with applications: the key of the image below it.
inline constexpr const char* kParentKeyLabel = "io.kiln.parent.key";

// Name of the record of a packaged image: its key, and 12 hex digits that cover its name and labels. Images
// of equal bits have separate records, and new labels need a new manifest but no build.
std::string record_name(const ImageSpec& spec);

// The component whose version and method are an image's: the framework, else the first in layering order that
// the cell names and that is not a base, else the base. REQUIRES: not empty.
const ComponentUse& main_component(const std::vector<ComponentUse>& components);

// The component that gives an image its repository, and by which questions ask for it: the first application
// that the cell names, else main_component(). REQUIRES: not empty.
const ComponentUse& naming_component(const std::vector<ComponentUse>& components);

}  // namespace kiln
