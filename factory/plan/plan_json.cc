// JSON of the stages. plan.json:
//
//   {"schema": 1, "name": "demo", "warnings": […], "steps_before_sharing": 25,
//    "steps": {KEY: {"kind": "run", "parent": KEY, "inputs": {…}, "title": …, …}, …},
//    "cells": [{"id": …, "axes": {…}, "tag": …, "key": …, "stages": [{"name": …, "steps": [KEY, …]}, …],
//               "steps": [KEY, …], "tests": [KEY, …], …}, …],
//    "excluded": [{"axes": {…}, "reason": …, "where": {…}}, …]}
//
// Whoever prints a plan may add "state" and "why" to its cells; they are passed over when it is read.
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "plan/build_plan.h"

namespace kiln {
namespace {

Json to_json(const SourceLocation& where) {
  return {{"file", where.file}, {"line", where.line}, {"column", where.column}, {"pointer", where.pointer}};
}

Json to_json(const Target& target) {
  return {{"name", target.name},
          {"cpu", target.cpu},
          {"accelerators", target.accelerators},
          {"description", target.description}};
}

Json to_json(const ComponentUse& use) {
  return {{"kind", name_of(use.kind)}, {"name", use.name},           {"version", use.version.text()},
          {"method", use.method},      {"optimised", use.optimised}, {"automatic", use.automatic},
          {"written", use.written}};
}

Json to_json(const FlagOrigin& flag) {
  return {{"variable", flag.variable},
          {"value", flag.value},
          {"compiler", flag.compiler},
          {"target", flag.target},
          {"note", flag.note}};
}

template <typename Value>
Json array_of(const std::vector<Value>& values) {
  Json array = Json::array();
  for (const Value& value : values) array.push_back(to_json(value));
  return array;
}

Json keys_of_steps(const std::vector<Step>& steps) {
  Json keys = Json::array();
  for (const Step& step : steps) keys.push_back(step.key);
  return keys;
}

// `steps_json` writes the steps of a stage: whole, or as keys of the plan's table.
template <typename StepsJson>
Json spec_json(const ImageSpec& spec, StepsJson steps_json) {
  Json stages = Json::array();
  for (const Stage& stage : spec.stages)
    stages.push_back({{"name", stage.name}, {"steps", steps_json(stage.steps)}});
  Json json = to_json(spec.request);
  json.update({{"repository", spec.repository},
               {"tag", spec.tag},
               {"immutable_tag", spec.immutable_tag},
               {"key", spec.key},
               {"target", to_json(spec.target)},
               {"components", array_of(spec.components)},
               {"stages", std::move(stages)},
               {"tests", steps_json(spec.tests)},
               {"environment", spec.environment},
               {"command", spec.command},
               {"labels", spec.labels},
               {"flags", array_of(spec.flags)},
               {"optimised", spec.optimised}});
  return json;
}

}  // namespace

Json to_json(const ImageRequest& request) {
  return {{"id", request.id}, {"axes", request.axes}, {"where", to_json(request.where)}};
}

Json to_json(const ExcludedCell& cell) {
  return {{"axes", cell.axes}, {"reason", cell.reason}, {"where", to_json(cell.where)}};
}

Json to_json(const Step& step) {
  return {{"key", step.key},
          {"kind", name_of(step.kind)},
          {"parent", step.parent},
          {"from", step.from},
          {"inputs", step.inputs},
          {"title", step.title},
          {"component", step.component},
          {"reference", step.reference},
          {"script", step.script},
          {"parameters", step.parameters},
          {"files", step.files},
          {"copy", step.copy}};
}

Json to_json(const ImageSpec& spec) {
  return spec_json(spec, [](const std::vector<Step>& steps) { return array_of(steps); });
}

Json to_json(const BuildPlan& plan) {
  Json steps = Json::object();
  for (const auto& [key, step] : plan.steps) steps[key] = to_json(step);
  Json cells = Json::array();
  for (const PlannedImage& image : plan.images) {
    Json cell = spec_json(image.spec, keys_of_steps);
    cell["steps"] = image.steps;
    cells.push_back(std::move(cell));
  }
  return {{"schema", 1},
          {"name", plan.name},
          {"warnings", plan.warnings},
          {"steps_before_sharing", plan.steps_before_sharing},
          {"steps", std::move(steps)},
          {"cells", std::move(cells)},
          {"excluded", array_of(plan.excluded)}};
}

}  // namespace kiln
