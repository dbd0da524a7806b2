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
#include "factory/plan/plan_json.h"

#include <nlohmann/json.hpp>

#include "factory/base/json_text.h"

namespace kiln {
namespace {

using kiln::append_json;

void append_json(std::string& out, bool value) { out += value ? "true" : "false"; }

void append_json(std::string& out, const SourceLocation& where) {
  JsonObjectText object(out);
  object.key("column") += std::to_string(where.column);
  object.member("file", where.file);
  object.key("line") += std::to_string(where.line);
  object.member("pointer", where.pointer);
  object.end();
}

void append_json(std::string& out, const Target& target) {
  JsonObjectText object(out);
  object.member("accelerators", target.accelerators);
  object.member("cpu", target.cpu);
  object.member("description", target.description);
  object.member("name", target.name);
  object.end();
}

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

void append_json(std::string& out, const AcceptedFile& accepted) {
  JsonObjectText object(out);
  object.member("file", accepted.file);
  object.member("reason", accepted.reason);
  object.end();
}

void append_json(std::string& out, const ComponentUse& use) {
  JsonObjectText object(out);
  if (!use.accept.empty())
    append_array(object.key("accept"), use.accept,
                 [&](const AcceptedFile& accepted) { append_json(out, accepted); });
  append_json(object.key("automatic"), use.automatic);
  object.member("kind", name_of(use.kind));
  object.member("method", use.method);
  object.member("name", use.name);
  append_json(object.key("optimised"), use.optimised);
  if (!use.role.empty()) object.member("role", use.role);
  object.member("version", use.version.text());
  object.member("written", use.written);
  object.end();
}

void append_json(std::string& out, const FlagOrigin& flag) {
  JsonObjectText object(out);
  object.member("compiler", flag.compiler);
  object.member("component", flag.component);
  object.member("from", flag.from);
  object.member("note", flag.note);
  object.member("target", flag.target);
  object.member("value", flag.value);
  object.member("variable", flag.variable);
  object.end();
}

template <typename Value>
void append_all(std::string& out, const std::vector<Value>& values) {
  append_array(out, values, [&](const Value& value) { append_json(out, value); });
}

void append_cell(std::string& out, const ExcludedCell& cell) {
  JsonObjectText object(out);
  object.member("axes", cell.axes);
  object.member("reason", cell.reason);
  append_json(object.key("where"), cell.where);
  object.end();
}

void append_cell(std::string& out, const BrokenCell& cell) {
  JsonObjectText object(out);
  object.member("axes", cell.request.axes);
  object.member("error", cell.why.format(""));
  object.member("id", cell.request.id);
  append_json(object.key("where"), cell.why.where());
  object.end();
}

// Times in seconds, sizes in bytes.
void append_json(std::string& out, const OwnLimits& limits) {
  JsonObjectText object(out);
  if (limits.log_bytes) object.key("log") += std::to_string(*limits.log_bytes);
  if (limits.memory) object.key("memory") += std::to_string(*limits.memory);
  if (limits.silence) object.key("silence") += std::to_string(limits.silence->count());
  if (limits.wall) object.key("wall") += std::to_string(limits.wall->count());
  object.end();
}

void append_json(std::string& out, const Step& step) {
  JsonObjectText object(out);
  if (!step.cache.empty()) object.member("cache", step.cache);
  object.member("component", step.component);
  object.member("copy", step.copy);
  object.member("mount", step.mount);
  object.member("files", step.files);
  object.member("from", step.from);
  object.key("inputs") += step.inputs;
  object.member("key", step.key);
  object.member("kind", name_of(step.kind));
  if (step.limits != OwnLimits{}) append_json(object.key("limits"), step.limits);
  object.member("method", step.method);
  object.member("parameters", step.parameters);
  object.member("parent", step.parent);
  object.member("reference", step.reference);
  object.member("script", step.script);
  object.member("secrets", step.secrets);
  object.member("site", step.site);
  object.member("tagged", step.tagged);
  object.member("title", step.title);
  object.member("version", step.version);
  object.end();
}

// `append_step` writes a step of a stage: whole, or, in a plan, its key.
template <typename AppendStep>
void append_spec(std::string& out, const ImageSpec& spec, bool in_plan, AppendStep append_step) {
  JsonObjectText object(out);
  object.member("axes", spec.request.axes);
  object.member("command", spec.command);
  append_all(object.key("components"), spec.components);
  object.member("environment", spec.environment);
  append_all(object.key("flags"), spec.flags);
  object.member("id", spec.request.id);
  object.member("immutable_tag", spec.immutable_tag);
  object.member("key", spec.key);
  object.member("labels", spec.labels);
  append_json(object.key("optimised"), spec.optimised);
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
  append_json(object.key("target"), spec.target);
  append_array(object.key("tests"), spec.tests, append_step);
  append_json(object.key("where"), spec.request.where);
  object.end();
}

}  // namespace

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
    append_array(out, cells.broken, [&](std::uint32_t number) { append_cell(out, plan.broken(number)); });
    out += ',';
  }
  out += "\"excluded\":";
  append_array(out, cells.excluded, [&](std::uint32_t number) { append_cell(out, plan.excluded(number)); });
  out += ",\"name\":";
  append_json(out, plan.name());
  out += ",\"schema\":1,\"steps\":{\n";
  between = "";
  for (StepTable::Number number : uses.by_key()) {
    out += between;
    append_json(out, table.hex(number));
    out += ':';
    append_json(out, table.step(number));
    between = ",\n";
  }
  out += "\n},\"steps_before_sharing\":" + std::to_string(uses.runs()) + ",\"warnings\":";
  append_json(out, plan.warnings());
  return out += "}\n";
}

std::string plan_text(const BuildPlan& plan) { return plan_text(plan, match_cells(plan, {})); }

Json to_json(const ImageRequest& request) {
  std::string out;
  JsonObjectText object(out);
  object.member("axes", request.axes);
  object.member("id", request.id);
  append_json(object.key("where"), request.where);
  object.end();
  return Json::parse(out);
}

Json to_json(const ExcludedCell& cell) {
  std::string out;
  append_cell(out, cell);
  return Json::parse(out);
}

Json to_json(const BrokenCell& cell) {
  std::string out;
  append_cell(out, cell);
  return Json::parse(out);
}

Json to_json(const Step& step) {
  std::string out;
  append_json(out, step);
  return Json::parse(out);
}

Json to_json(const ImageSpec& spec) {
  std::string out;
  append_spec(out, spec, false, [&](const Step& step) { append_json(out, step); });
  return Json::parse(out);
}

}  // namespace kiln
