// Reads plan.json (plan_json.cc says what is in it). Every step's key is checked against its inputs.
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/plan/plan_json.h"
#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

std::map<std::string, std::string> map_from(const JsonNode& node) {
  std::map<std::string, std::string> map;
  for (const auto& [name, value] : node.members()) map.emplace(name, value.string());
  return map;
}

SourceLocation location_from(const JsonNode& node) {
  node.allow_only({"file", "line", "column", "pointer"});
  constexpr int kMost = std::numeric_limits<int>::max();
  return {node.at("file").string(), static_cast<int>(node.at("line").integer(0, kMost)),
          static_cast<int>(node.at("column").integer(0, kMost)), node.at("pointer").string()};
}

Target target_from(const JsonNode& node) {
  node.allow_only({"name", "cpu", "accelerators", "description"});
  return {node.at("name").string(), node.at("cpu").string(), node.at("accelerators").strings(),
          node.at("description").string()};
}

std::vector<AcceptedFile> accepted_from(const JsonNode& node) {
  std::vector<AcceptedFile> files;
  if (auto list = node.find("accept"))
    for (const JsonNode& item : list->items()) {
      item.allow_only({"file", "reason"});
      files.push_back({item.at("file").string(), item.at("reason").line_of_text()});
    }
  return files;
}

ComponentUse component_from(const JsonNode& node) {
  node.allow_only(
      {"kind", "name", "version", "method", "optimised", "automatic", "written", "accept", "role"});
  auto kind = kind_from(node.at("kind").string());
  if (!kind) node.at("kind").fail(fmt::format("unknown kind '{}'", node.at("kind").string()));
  return {*kind,
          node.at("name").name(),
          version_at(node.at("version").string(), node.at("version").where()),
          node.at("method").string(),
          node.at("optimised").boolean(),
          node.at("automatic").boolean(),
          node.at("written").string(),
          accepted_from(node),
          node.find("role") ? node.at("role").string() : ""};
}

FlagOrigin flag_from(const JsonNode& node) {
  node.allow_only({"variable", "value", "compiler", "target", "note", "from", "component"});
  auto text = [&](const char* key) {  // plans of earlier versions lack the last two
    auto found = node.find(key);
    return found ? found->string() : std::string();
  };
  return {node.at("variable").string(),
          node.at("value").string(),
          node.at("compiler").string(),
          node.at("target").string(),
          node.at("note").string(),
          text("from"),
          text("component")};
}

StepKind step_kind_at(const JsonNode& node) {
  try {
    return step_kind_from(node.string());
  } catch (const Error& error) {
    throw Error(ExitCode::input, node.where(), error.message(), error.hint());
  }
}

OwnLimits limits_from(const JsonNode& node) {
  node.allow_only({"wall", "silence", "log", "memory"});
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  OwnLimits limits;
  if (auto wall = node.find("wall")) limits.wall = std::chrono::seconds(wall->integer(0, kMost));
  if (auto silence = node.find("silence")) limits.silence = std::chrono::seconds(silence->integer(0, kMost));
  if (auto log = node.find("log")) limits.log_bytes = static_cast<std::uint64_t>(log->integer(0, kMost));
  if (auto memory = node.find("memory"))
    limits.memory = static_cast<std::uint64_t>(memory->integer(0, kMost));
  return limits;
}

Step step_from(const JsonNode& node) {
  node.allow_only({"key",        "kind",   "parent", "from",      "inputs", "title",   "component",
                   "version",    "method", "tagged", "reference", "script", "secrets", "site",
                   "parameters", "files",  "copy",   "mount",     "limits", "cache"});
  Step step;
  step.key = node.at("key").string();
  step.kind = step_kind_at(node.at("kind"));
  step.parent = node.at("parent").string();
  step.from = node.at("from").string();
  step.inputs = node.at("inputs").value().dump();
  step.title = node.at("title").string();
  step.component = node.at("component").string();
  // Plans of earlier programs lie in state folders without these.
  if (auto version = node.find("version")) step.version = version->string();
  if (auto method = node.find("method")) step.method = method->string();
  if (auto limits = node.find("limits")) step.limits = limits_from(*limits);
  if (auto cache = node.find("cache")) step.cache = cache->strings();
  if (auto tagged = node.find("tagged")) step.tagged = tagged->string();
  step.reference = node.at("reference").string();
  step.script = node.at("script").string();
  if (auto secrets = node.find("secrets")) step.secrets = secrets->strings();
  if (auto site = node.find("site")) step.site = site->string();
  step.parameters = map_from(node.at("parameters"));
  step.files = node.at("files").strings();
  step.copy = node.at("copy").strings();
  if (auto mount = node.find("mount")) step.mount = mount->strings();  // plans of older kilns have none
  if (Digest::of(step.inputs).hex() != step.key)
    node.at("key").fail(fmt::format("the key '{}' does not belong to the step's inputs", step.key),
                        "the plan was changed by hand; run 'kiln plan' again");
  return step;
}

class PlanReader {
 public:
  PlanDocument read(const JsonNode& root) {
    root.allow_only(
        {"schema", "name", "warnings", "steps_before_sharing", "steps", "cells", "excluded", "broken"});
    root.at("schema").integer(1, 1);
    plan_.name = root.at("name").string();
    plan_.warnings = root.at("warnings").strings();
    root.at("steps_before_sharing").integer(0, std::numeric_limits<std::int64_t>::max());
    for (const auto& [key, node] : root.at("steps").members()) {
      Step step = step_from(node);
      if (step.key != key) node.at("key").fail(fmt::format("expected the key '{}'", key));
      plan_.steps.emplace(key, std::move(step));
    }
    for (const JsonNode& node : root.at("cells").items()) plan_.images.push_back(image_from(node));
    for (const JsonNode& node : root.at("excluded").items()) {
      node.allow_only({"axes", "reason", "where"});
      plan_.excluded.push_back(
          {map_from(node.at("axes")), node.at("reason").string(), location_from(node.at("where"))});
    }
    if (auto broken = root.find("broken"))
      for (const JsonNode& node : broken->items()) {
        node.allow_only({"axes", "error", "id", "where"});
        plan_.broken.emplace(node.at("id").string(), node.at("error").string());
      }
    return std::move(plan_);
  }

 private:
  const Step& step_at(const JsonNode& key) const {
    auto found = plan_.steps.find(key.string());
    if (found == plan_.steps.end()) key.fail(fmt::format("no step has the key '{}'", key.string()));
    return found->second;
  }

  std::vector<Step> steps_from(const JsonNode& node) const {
    std::vector<Step> steps;
    for (const JsonNode& key : node.items()) steps.push_back(step_at(key));
    return steps;
  }

  std::vector<Stage> stages_from(const JsonNode& node) const {
    std::vector<Stage> stages;
    for (const JsonNode& stage : node.items()) {
      stage.allow_only({"name", "steps"});
      stages.push_back({stage.at("name").string(), steps_from(stage.at("steps"))});
      if (stages.back().steps.empty()) stage.at("steps").fail("a stage has at least one step");
    }
    if (stages.empty()) node.fail("an image has at least one stage");
    return stages;
  }

  ImageSpec image_from(const JsonNode& node) const {
    node.allow_only({"id", "axes", "where", "repository", "tag", "immutable_tag", "key", "target",
                     "components", "stages", "steps", "tests", "environment", "command", "labels", "flags",
                     "optimised", "state", "why"});
    ImageSpec spec;
    spec.request = {node.at("id").string(), map_from(node.at("axes")), location_from(node.at("where"))};
    spec.repository = node.at("repository").string();
    spec.tag = node.at("tag").string();
    spec.immutable_tag = node.at("immutable_tag").string();
    spec.key = node.at("key").string();
    spec.target = target_from(node.at("target"));
    for (const JsonNode& use : node.at("components").items()) spec.components.push_back(component_from(use));
    spec.stages = stages_from(node.at("stages"));
    spec.tests = steps_from(node.at("tests"));
    spec.environment = map_from(node.at("environment"));
    spec.command = node.at("command").strings();
    spec.labels = map_from(node.at("labels"));
    for (const JsonNode& flag : node.at("flags").items()) spec.flags.push_back(flag_from(flag));
    spec.optimised = node.at("optimised").boolean();
    for (const JsonNode& key : node.at("steps").items()) step_at(key);
    return spec;
  }

  PlanDocument plan_;
};

}  // namespace

PlanDocument plan_from_json(const JsonDocument& document) { return PlanReader().read(document.root()); }

}  // namespace kiln
