// An image while its matrix is resolved: numbers and pointers to what images share. Used by resolve only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/packed_map.h"
#include "plan/choose.h"
#include "plan/resolve.h"
#include "plan/step_store.h"
#include "plan/tag.h"

namespace kiln {

// What a cell says of how its components are made.
struct CellWishes {
  std::string method;
  const Optimise* optimise = nullptr;  // of the axis, never null in a choice that can be
};

// What all cells of one target share.
struct SharedTarget {
  Target target;
  std::string architecture;  // OCI's
  std::string tag;           // its part of tags
  std::string answers;       // to every `when` of the recipes that asks for a target: '0' or '1' each
};

// What all cells of equal choices share, whatever their targets, as long as these answer alike: the choices,
// or why they cannot be.
struct SharedChoice {
  Choice choice;       // in layering order
  std::string reason;  // why this combination cannot be; "" when it can
  CellWishes wishes;
  bool optimised = false;
  PackedMap environment;
  std::string repository;
  TagParts tag;
  PackedMap labels;  // those that the choices alone decide
  // Of what is built in a stage of its own: the tools of that stage, in layering order.
  std::map<std::pair<const ComponentVersion*, const Method*>, Choice> tools;
};

struct SketchedStep {
  StepStore::Number step;
  const StepPattern* pattern;
  const ScriptValues* values;  // null without a script
  StepStore::Number parent;
  StepStore::Number from;
};

struct SketchedStage {
  std::string name;
  std::vector<SketchedStep> steps;
};

// Valid as long as the resolver that made it.
struct ImageSketch {
  const SharedTarget* target = nullptr;
  const SharedChoice* choice = nullptr;
  std::vector<SketchedStage> stages;  // as ImageSpec's
  std::vector<SketchedStep> tests;    // their parameters: the environment and `values`
  std::vector<const FlagOrigin*> flags;
  bool cell_optimise_used = false;  // a script was given something that the cell's wish may change
  Sha256 key{};
  std::string tag;

  StepStore::Number last_step() const { return stages.back().steps.back().step; }
};

}  // namespace kiln
