// JSON of the stages, written straight as text: plans are long. Keys are sorted, as Json sorts them.
//
// plan.json, with each cell and each step on a line of its own (PlanFile, state/plan_file.h, counts on
// it):
//
//   {"cells":[
//   {"axes": {…}, …, "id": …, "tag": …, "key": …, "stages": [{"name": …, "steps": [KEY, …]}, …],
//    "steps": [KEY, …], "tests": [KEY, …], …},
//   …
//   ],"excluded":[{"axes": {…}, "reason": …, "where": {…}}, …],"name": "demo","schema": 1,"steps":{
//   KEY: {"kind": "run", "parent": KEY, "inputs": {…}, "title": …, …},
//   …
//   },"steps_before_sharing": 25,"warnings": […]}
//
// Broken cells, where there are some, stand before "excluded":
//   "broken":[{"axes": {…}, "error": …, "id": …, "where": {…}}, …]
// Whoever prints a plan may add "state" and "why" to its cells; they are passed over when it is read.
// Every step's key is checked against its inputs then.
#include "factory/plan/plan_json.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/json_fields.h"
#include "factory/base/json_text.h"
#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

template <typename Items, typename Append>
void append_array(std::string& out, const Items& items, Append append) {
  out += '[';
  const char* between = "";
  for (const auto& item : items) {
    out += between;
    append(item);
    between = ",";
  }
  out += ']';
}

// A text of JSON that is a value of the document.
struct JsonInText {
  std::string operator()(const JsonNode& node) const { return node.value().dump(); }
};

// Writes the members that describe() names, straight as text.
class FieldText {
 public:
  template <typename Value>
  static void append(std::string& out, const Value& value) {
    if constexpr (Described<Value>) {
      FieldText fields(out);
      describe(fields, const_cast<Value&>(value));  // a writer changes nothing
      fields.object_.end();
    } else if constexpr (requires { append_json(out, value); }) {
      append_json(out, value);
    } else if constexpr (requires { typename Value::value_type; }) {
      append_array(out, value, [&](const auto& one) { append(out, one); });
    } else if constexpr (requires { value.count(); }) {  // seconds
      out += std::to_string(value.count());
    } else {
      out += written(value).dump();
    }
  }

  void refuse_others(const auto& /*value*/) {}
  void must(const char* key, const std::string& text, const JsonInText&) { object_.key(key) += text; }
  void must(const char* key, const auto& value, const auto&... /*read*/) { append(object_.key(key), value); }
  template <typename Value>
  void may(const char* key, const Value& value, const auto&... /*read*/) {
    if constexpr (kIsOptional<Value>) {
      if (value) must(key, *value);
    } else {
      if (!value.empty()) must(key, value);
    }
  }
  void when(bool is_there, const char* key, const auto& value, const auto&... /*read*/) {
    if (is_there) must(key, value);
  }

 private:
  explicit FieldText(std::string& out) : object_(out) {}
  JsonObjectText object_;
};

Kind kind_in(const JsonNode& node) {
  const auto kind = kind_from(node.string());
  if (!kind) node.fail(fmt::format("unknown kind '{}'", node.string()));
  return *kind;
}

Version version_of_component(const JsonNode& node) { return version_at(node.string(), node.where()); }

StepKind step_kind_in(const JsonNode& node) {
  try {
    return step_kind_from(node.string());
  } catch (const Error& error) {
    throw Error(ExitCode::input, node.where(), error.message(), error.hint());
  }
}

std::chrono::seconds seconds_in(const JsonNode& node) {
  return std::chrono::seconds(node.integer(0, std::numeric_limits<std::int64_t>::max()));
}

// `append_step` writes a step of a stage: whole, or, in a plan, its key.
template <typename AppendStep>
void append_spec(std::string& out, const ImageSpec& spec, bool in_plan, AppendStep append_step) {
  JsonObjectText object(out);
  object.member("axes", spec.request.axes);
  object.member("command", spec.command);
  FieldText::append(object.key("components"), spec.components);
  object.member("environment", spec.environment);
  FieldText::append(object.key("flags"), spec.flags);
  object.member("id", spec.request.id);
  object.member("immutable_tag", spec.immutable_tag);
  object.member("key", spec.key);
  object.member("labels", spec.labels);
  FieldText::append(object.key("optimised"), spec.optimised);
  object.member("repository", spec.repository);
  append_array(object.key("stages"), spec.stages, [&](const Stage& stage) {
    JsonObjectText staged(out);
    staged.member("name", stage.name);
    append_array(staged.key("steps"), stage.steps, append_step);
    staged.end();
  });
  if (in_plan)
    append_array(object.key("steps"), spec.steps(), [&](const Step* step) { append_json(out, step->key); });
  object.member("tag", spec.tag);
  FieldText::append(object.key("target"), spec.target);
  append_array(object.key("tests"), spec.tests, append_step);
  FieldText::append(object.key("where"), spec.request.where);
  object.end();
}

Step step_from(const JsonNode& node) {
  auto step = read_as<Step>(node);
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
    read_into(root.at("excluded"), plan_.excluded);
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
    read_into(node, spec.request);
    spec.repository = node.at("repository").string();
    spec.tag = node.at("tag").string();
    spec.immutable_tag = node.at("immutable_tag").string();
    spec.key = node.at("key").string();
    read_into(node.at("target"), spec.target);
    read_into(node.at("components"), spec.components);
    spec.stages = stages_from(node.at("stages"));
    spec.tests = steps_from(node.at("tests"));
    read_into(node.at("environment"), spec.environment);
    spec.command = node.at("command").strings();
    read_into(node.at("labels"), spec.labels);
    read_into(node.at("flags"), spec.flags);
    spec.optimised = node.at("optimised").boolean();
    for (const JsonNode& key : node.at("steps").items()) step_at(key);
    return spec;
  }

  PlanDocument plan_;
};

}  // namespace

// Members in the order of their names, as Json sorts them. What is not written by earlier kilns, whose plans
// lie in state folders, is written `when(true, …)`: it may lack.

template <typename Fields>
void describe(Fields& fields, SourceLocation& where) {
  fields.refuse_others(where);
  fields.must("column", where.column);
  fields.must("file", where.file);
  fields.must("line", where.line);
  fields.must("pointer", where.pointer);
}

template <typename Fields>
void describe(Fields& fields, ImageRequest& request) {
  fields.must("axes", request.axes);
  fields.must("id", request.id);
  fields.must("where", request.where);
}

template <typename Fields>
void describe(Fields& fields, ExcludedCell& cell) {
  fields.refuse_others(cell);
  fields.must("axes", cell.axes);
  fields.must("reason", cell.reason);
  fields.must("where", cell.where);
}

template <typename Fields>
void describe(Fields& fields, Target& target) {
  fields.refuse_others(target);
  fields.must("accelerators", target.accelerators);
  fields.must("cpu", target.cpu);
  fields.must("description", target.description);
  fields.must("name", target.name);
}

template <typename Fields>
void describe(Fields& fields, AcceptedFile& accepted) {
  fields.refuse_others(accepted);
  fields.must("file", accepted.file);
  fields.must("reason", accepted.reason, &JsonNode::line_of_text);
}

template <typename Fields>
void describe(Fields& fields, ComponentUse& use) {
  fields.refuse_others(use);
  fields.may("accept", use.accept);
  fields.must("automatic", use.automatic);
  fields.must("kind", use.kind, kind_in);
  fields.must("method", use.method);
  fields.must("name", use.name, &JsonNode::name);
  fields.must("optimised", use.optimised);
  fields.may("role", use.role);
  fields.must("version", use.version, version_of_component);
  fields.must("written", use.written);
}

template <typename Fields>
void describe(Fields& fields, FlagOrigin& flag) {
  fields.refuse_others(flag);
  fields.must("compiler", flag.compiler);
  fields.when(true, "component", flag.component);
  fields.when(true, "from", flag.from);
  fields.must("note", flag.note);
  fields.must("target", flag.target);
  fields.must("value", flag.value);
  fields.must("variable", flag.variable);
}

// Times in seconds, sizes in bytes.
template <typename Fields>
void describe(Fields& fields, OwnLimits& limits) {
  fields.refuse_others(limits);
  fields.may("log", limits.log_bytes);
  fields.may("memory", limits.memory);
  fields.may("silence", limits.silence, seconds_in);
  fields.may("wall", limits.wall, seconds_in);
}

template <typename Fields>
void describe(Fields& fields, Step& step) {
  fields.refuse_others(step);
  fields.may("cache", step.cache);
  fields.must("component", step.component);
  fields.must("copy", step.copy);
  fields.when(true, "mount", step.mount);
  fields.must("files", step.files);
  fields.must("from", step.from);
  fields.must("inputs", step.inputs, JsonInText());
  fields.must("key", step.key);
  fields.must("kind", step.kind, step_kind_in);
  fields.when(step.limits != OwnLimits{}, "limits", step.limits);
  fields.when(true, "method", step.method);
  fields.must("parameters", step.parameters);
  fields.must("parent", step.parent);
  fields.must("reference", step.reference);
  fields.must("script", step.script);
  fields.when(true, "secrets", step.secrets);
  fields.when(true, "site", step.site);
  fields.when(true, "tagged", step.tagged);
  fields.must("title", step.title);
  fields.when(true, "version", step.version);
}

std::string plan_text(const BuildPlan& plan, const ChosenCells& cells) {
  const StepTable& table = plan.steps();
  const StepUses uses(plan, cells.images);
  std::string out = "{\"cells\":[\n";
  const char* between = "";
  for (std::uint32_t number : cells.images) {
    out += between;
    append_spec(out, plan.image(number).spec(), true, [&](const Step& step) { append_json(out, step.key); });
    between = ",\n";
  }
  out += "\n],";
  if (!cells.broken.empty()) {
    out += "\"broken\":";
    append_array(out, cells.broken, [&](std::uint32_t number) {
      out += to_json(plan.broken(number)).dump(-1, ' ', false, Json::error_handler_t::replace);
    });
    out += ',';
  }
  out += "\"excluded\":";
  append_array(out, cells.excluded,
               [&](std::uint32_t number) { FieldText::append(out, plan.excluded(number)); });
  out += ",\"name\":";
  append_json(out, plan.name());
  out += ",\"schema\":1,\"steps\":{\n";
  between = "";
  for (StepTable::Number number : uses.by_key()) {
    out += between;
    append_json(out, table.hex(number));
    out += ':';
    FieldText::append(out, table.step(number));
    between = ",\n";
  }
  out += "\n},\"steps_before_sharing\":" + std::to_string(uses.runs()) + ",\"warnings\":";
  append_json(out, plan.warnings());
  return out += "}\n";
}

std::string plan_text(const BuildPlan& plan) { return plan_text(plan, match_cells(plan, {})); }

Json to_json(const ImageRequest& request) { return fields_of(request); }
Json to_json(const ExcludedCell& cell) { return fields_of(cell); }
Json to_json(const FlagOrigin& flag) { return fields_of(flag); }

Json to_json(const BrokenCell& cell) {
  return {{"axes", cell.request.axes},
          {"error", cell.why.format("")},
          {"id", cell.request.id},
          {"where", fields_of(cell.why.where())}};
}

Json to_json(const Step& step) {
  std::string out;
  FieldText::append(out, step);
  return Json::parse(out);
}

Json to_json(const ImageSpec& spec) {
  std::string out;
  append_spec(out, spec, false, [&](const Step& step) { FieldText::append(out, step); });
  return Json::parse(out);
}

PlanDocument plan_from_json(const JsonDocument& document) { return PlanReader().read(document.root()); }

}  // namespace kiln
