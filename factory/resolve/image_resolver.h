// Fills an ImageTable, cell by cell: what cells share is found, and hashed, once. Used by resolve only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "factory/base/digest.h"
#include "factory/resolve/image_table.h"
#include "factory/resolve/resolve.h"
#include "factory/resolve/stages.h"

namespace kiln {

class ImageResolver {
 public:
  // REQUIRES: both outlive this; what `input` refers to does not change.
  ImageResolver(const ResolveInput& input, ImageTable& table);

  // Adds the image of a cell, or why this combination cannot be, or what is broken in the recipes or the
  // target that it needs. Throws Error(input) for what is wrong in the matrix.
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
