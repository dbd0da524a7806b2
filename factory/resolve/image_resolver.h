// Fills an ImageTable, cell by cell: what cells share is found, and hashed, once. Used by resolve only.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/packed_map.h"
#include "factory/resolve/choose.h"
#include "factory/resolve/labels.h"
#include "factory/resolve/parameter_values.h"
#include "factory/resolve/resolve.h"
#include "factory/resolve/step_pattern.h"

namespace kiln {

// The contents of a Resolution: its images, and their shared parts. Used by resolve only.

// Shared by all cells of one target.
struct ResolvedTarget {
  Target target;
  std::string architecture;  // OCI's
  std::string tag;           // its part of tags
};

// Shared by all images of equal components, whatever their targets.
struct Composition {
  std::vector<ComponentUse> components;  // in layering order
  bool optimised = false;
  PackedMap environment;
  // Of an image whose uppermost components are applications: the environment below them.
  std::optional<PackedMap> parent_environment;
  std::string repository;
  TagParts tag;
  PackedMap labels;  // those that the components alone decide
};

struct ImageTable {
  explicit ImageTable(const ResolveInput& input) : patterns(input.engine_family), values(input.cpus) {}

  using Naming = std::array<unsigned char, 6>;  // the second half of a record's name
  struct Image {
    Sha256 key{};
    Naming naming{};
    std::uint32_t cell = 0;  // of the expansion
    StepTable::Number last_step = StepTable::kNone;
    std::uint32_t tests_end = 0;  // in `tests`; they begin where those of the image before end
    const ResolvedTarget* target = nullptr;
    const Composition* composition = nullptr;
  };
  struct Unsolvable {
    std::uint32_t cell;  // of the expansion
    const std::string* reason;
  };

  struct Broken {
    std::uint32_t cell;  // of the expansion
    const Error* why;
    const ResolvedTarget* target;  // null where that is what is broken
  };

  // Hex digits; "" for an image without applications.
  std::string parent_key(std::size_t image) const;
  void close();  // no image is added afterwards

  std::vector<StepTable::Number> tests_of(std::size_t image) const;
  std::string tag(std::size_t image) const;
  ImageSpec spec(std::size_t image, ImageRequest request) const;
  // Where the flags that its scripts and tests got came from, each once.
  std::vector<const FlagOrigin*> flags(StepTable::Number last,
                                       const std::vector<StepTable::Number>& its_tests) const;

  StepTable steps;
  std::deque<Image> images;
  std::map<std::size_t, Sha256> parents;  // keys of the images below applications, by image
  std::deque<StepTable::Number> tests;
  std::deque<Unsolvable> unsolvable;
  std::deque<Broken> broken;

  PatternBook patterns;
  ScriptValueBook values;
  std::deque<ResolvedTarget> targets;
  std::deque<Composition> compositions;
  std::set<std::string> reasons;        // why cells cannot be
  std::map<std::string, Error> faults;  // why they are broken, by its words
};

// The steps of an image, stacked on each other.
struct LaidSteps {
  StepTable::Number last = StepTable::kNone;  // of the image
  std::vector<StepTable::Number> tests;
  bool cell_optimise_used = false;  // a script was given something that the cell's wish may change
};

// The solution for all cells of equal choices, whatever their targets, as long as these give equal answers.
struct Solution {
  Choice choice;                             // in layering order
  const std::string* reason = nullptr;       // why this combination cannot be; null when it can
  const Error* fault = nullptr;              // why it is broken; null when it is not
  std::string method;                        // of the cell
  const Optimise* optimise = nullptr;        // of the cell; never null in a solution that can be
  const Composition* composition = nullptr;  // nor this
  // For a component that is built in a separate stage: the tools of that stage, in layering order.
  std::map<std::pair<const ComponentVersion*, const Method*>, Choice> tools;
};

// Adds the steps of the image and of its build stages to the table, then its tests. `solution` learns the
// tools of its build stages. Throws Error(input), Unsolvable.
LaidSteps lay_steps(const ResolveInput& input, ImageTable& table, const ResolvedTarget& target,
                    Solution& solution);

class ImageResolver {
 public:
  // REQUIRES: both outlive this; what `input` refers to does not change.
  ImageResolver(const ResolveInput& input, ImageTable& table);

  // Adds the image of a cell, or why this combination cannot be, or what is broken in the recipes or the
  // target that it needs. Throws Error(input) for a fault of the matrix.
  void add(const ImageRequest& request, std::uint32_t cell);

 private:
  struct AnsweredTarget {
    const ResolvedTarget* resolved;
    std::string answers;  // to every `when` of the recipes that asks for a target: '0' or '1' each
  };
  const AnsweredTarget& target_of(const ImageRequest& request);
  Solution& solution_of(const ImageRequest& request, const AnsweredTarget& target);
  void solve(const ImageRequest& request, const Target& target, Solution& solution);
  const Composition& compose(const Choice& choice, const std::string& optimise);
  const Optimise& optimise_wish(const std::string& axis, const SourceLocation& where);
  const std::string* kept(const std::string& reason) { return &*table_->reasons.insert(reason).first; }
  const Error* kept(const Error& fault) {
    return &table_->faults.emplace(fault.format(), fault).first->second;
  }
  bool is_of_recipe(const Error& error) const { return documents_.contains(error.where().file); }
  void add_solved(const ImageRequest& request, std::uint32_t cell, const AnsweredTarget& target);
  void add_image(const ImageRequest& request, std::uint32_t cell, const ResolvedTarget& target,
                 Solution& solution);
  Sha256 key_of(StepTable::Number last, const PackedMap& environment, const std::string& architecture);
  // Notes the key of the image below the applications of the next image.
  void add_parent(const ImageTable::Image& image);
  std::string labels_of(const ImageTable::Image& image, const ImageRequest& request,
                        const std::vector<StepTable::Number>& tests) const;

  ResolveInput input_;
  ImageTable* table_;
  std::set<std::string> target_globs_;                       // of every `when` in the recipes
  std::set<std::string, std::less<>> documents_;             // recipe.json of every component
  std::unordered_map<std::string, AnsweredTarget> targets_;  // by the axis' value
  std::map<std::string, Optimise> optimise_;                 // by the axis' value
  std::unordered_map<std::string, Solution> solutions_;      // by the other axes' values and the answers
  TextHasher hasher_;
  std::string text_;  // scratch
};

}  // namespace kiln
