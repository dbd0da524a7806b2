#include "factory/recipe/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/recipe/component_value.h"
#include "factory/recipe/optimise.h"
#include "factory/recipe/recipe.h"

namespace kiln {
namespace {

enum class PartialUse {
  include,    // axis values
  exclude,    // version ranges and globs; `reason` beside them is passed over
  condition,  // version ranges and globs; keys may also be facts, such as framework.python
};

constexpr const char* kComponentForm = "none, or name[@version][:method], several joined by '+'";

// What follows a "+" in a version (1.5.1+cpu) reads as a component of its own: such versions are asked for
// without it.
void check_components(Kind kind, const JsonNode& node, const std::string& text) {
  const auto& methods = method_names();
  const std::vector<ComponentValue> values = parse_component_values(kind, text, node.where());
  for (const ComponentValue& value : values) {
    if (!is_name(value.name) || !(value.version.empty() || is_name(value.version)))
      node.fail(fmt::format("expected a component, found '{}'", value.text), kComponentForm);
    if (value.name == "none") node.fail(fmt::format("'none' must be alone, found '{}'", text));
    if (!value.method.empty() && !contains(methods, value.method))
      node.fail(fmt::format("unknown method '{}' in '{}'", value.method, value.text),
                did_you_mean(value.method, methods, "methods: "));
  }
}

void check_target(const JsonNode& node, const std::string& text) {
  const bool good = std::ranges::all_of(
      text, [](char c) { return is_name(std::string_view(&c, 1)) || contains("_.-:,", c); });
  if (!good || !is_name(text.substr(0, text.find(','))))
    node.fail(fmt::format("expected a target, found '{}'", text),
              "for example x86_64_v3 or x86_64_v3,nvidia:sm_80");
}

// A glob over an axis' values: no blanks, which would be a sign of a version range on the wrong axis.
std::string read_glob(const JsonNode& node) {
  std::string text = read_text(node);
  if (text.find_first_of(" <>=") != std::string::npos)
    node.fail(fmt::format("expected a value or a glob, found '{}'", text),
              "only 'version' and facts may have version ranges");
  return text;
}

bool is_fact_key(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot != std::string::npos && kind_from(key.substr(0, dot)) && is_fact_name(key.substr(dot + 1));
}

[[noreturn]] void fail_key(const JsonNode& node, const std::string& key, PartialUse use) {
  std::string hint = did_you_mean(key, keys_of("matrix/cell"));
  if (const std::size_t dot = key.find('.'); dot != std::string::npos) {
    if (use != PartialUse::condition)
      hint = "only the conditions of constraints may contain facts";
    else if (kind_from(key.substr(0, dot)))
      hint = "a fact is <kind>.<name>, and its name small letters, digits and _";
    else
      hint = did_you_mean(key.substr(0, dot), kind_names());
  }
  if (hint.empty()) hint = fmt::format("axes: {}", fmt::join(keys_of("matrix/cell"), ", "));
  throw Error(ExitCode::input, node.where_key(key), fmt::format("unknown axis '{}'", key), hint);
}

constexpr std::size_t kMaxIncludeDepth = 32;

struct AxisSize {
  std::string name;
  std::size_t values;
};

// "axis0 (20 values), axis1 (20 values), axis2 (20 values)".
std::string largest(std::vector<AxisSize> axes) {
  std::ranges::stable_sort(axes, [](const AxisSize& a, const AxisSize& b) { return a.values > b.values; });
  if (axes.size() > 3) axes.resize(3);
  std::vector<std::string> texts;
  for (const AxisSize& axis : axes) texts.push_back(fmt::format("{} ({} values)", axis.name, axis.values));
  return joined(texts, ", ");
}

std::uint64_t checked_product(const std::string& group, std::vector<AxisSize> axes, std::uint64_t limit,
                              const SourceLocation& where) {
  std::uint64_t size = 1;
  bool overflow = false;
  double power = 0;
  for (const AxisSize& axis : axes) {
    if (axis.values == 0) return 0;
    overflow = __builtin_mul_overflow(size, std::uint64_t{axis.values}, &size) || overflow;
    power += std::log2(static_cast<double>(axis.values));
  }
  if (!overflow && size <= limit) return size;
  std::string count = overflow ? fmt::format("about 2^{:.0f}", std::floor(power)) : fmt::format("{}", size);
  throw Error(ExitCode::input, where,
              fmt::format("the group '{}' has {} cells, limit {}; largest axes: {}", group, count, limit,
                          largest(std::move(axes))),
              "split it into groups, or leave values out");
}

// Said before anything else of the axes: what is too large is not looked into.
void check_size(const std::string& group, const JsonNode& node) {
  std::vector<AxisSize> axes;
  for (const auto& [name, body] : node.members())
    axes.push_back({name, body.is_array() ? body.value().size() : 1});
  if (!axes.empty()) checked_product(group, std::move(axes), kMaxCells, node.where());
}

// One value of the axis `name`, checked by the axis' grammar. Throws Error(input).
std::string read_axis_value(const std::string& name, const JsonNode& node) {
  if (node.is_array())
    node.fail("expected a string, found an array", "several components are joined: \"mkl+openmpi\"");
  std::string text = read_text(node);
  if (name == "version")
    read_range(node);
  else if (name == "method")
    read_word_of(node, method_names(), "a method");
  else if (name == "target")
    check_target(node, text);
  else if (name == "optimise")
    parse_optimise(text, node.where());
  else
    check_components(*kind_from(name), node, text);
  return text;
}

// A map of axis names to values, not empty.
AxisValues read_partial(const JsonNode& node, PartialUse use) {
  AxisValues values;
  const auto& axes = keys_of("matrix/cell");
  for (const auto& [key, value] : node.members()) {
    if (use == PartialUse::exclude && key == "reason") continue;
    const bool axis = contains(axes, key);
    const bool fact = !axis && use == PartialUse::condition && is_fact_key(key);
    if (!axis && !fact) fail_key(node, key, use);
    if (use == PartialUse::include)
      values[key] = read_axis_value(key, value);
    else if (fact || key == "version")
      values[key] = read_range(value).text();
    else
      values[key] = read_glob(value);
  }
  if (values.empty()) node.fail("expected at least one axis, found an empty object");
  return values;
}

std::vector<Axis> read_axes(const JsonNode& node) {
  node.allow_only(keys_of("matrix/axes"));
  std::vector<Axis> axes;
  for (const auto& [name, body] : node.members()) {
    if (name == "$schema") continue;
    Axis axis{name, {}, body.where()};
    if (body.is_array())
      for (const JsonNode& item : read_at_least_one(body, "value"))
        axis.values.push_back(read_axis_value(name, item));
    else
      axis.values.push_back(read_axis_value(name, body));
    axes.push_back(std::move(axis));
  }
  if (axes.empty()) node.fail("expected at least one axis, found an empty object");
  return axes;
}

std::vector<Partial> read_partials(const JsonNode& node, PartialUse use) {
  std::vector<Partial> partials;
  for (const JsonNode& item : node.items()) {
    partials.push_back({read_partial(item, use), item.where()});
    if (use != PartialUse::exclude) continue;
    if (auto reason = item.find("reason")) partials.back().reason = read_text(*reason);
  }
  return partials;
}

MatrixGroup read_group(const JsonNode& node, std::string name) {
  MatrixGroup group;
  group.name = std::move(name);
  const JsonNode axes = node.at("axes");
  check_size(group.name, axes);
  group.axes = read_axes(axes);
  if (auto exclude = node.find("exclude")) group.exclude = read_partials(*exclude, PartialUse::exclude);
  if (auto include = node.find("include")) group.include = read_partials(*include, PartialUse::include);
  return group;
}

std::vector<MatrixGroup> read_groups(const JsonNode& node) {
  std::vector<MatrixGroup> groups;
  for (const JsonNode& item : node.items()) {
    item.allow_only(keys_of("matrix/group"));
    const JsonNode name = item.at("name");
    for (const MatrixGroup& other : groups)
      if (other.name == name.name()) name.fail(fmt::format("there are two groups '{}'", other.name));
    groups.push_back(read_group(item, name.name()));
  }
  if (groups.empty()) node.fail("expected at least one group, found an empty array");
  return groups;
}

void note_facts(const JsonNode& node, const std::string& part, Constraint& constraint) {
  auto condition = node.find(part);
  if (!condition) return;
  for (const auto& [key, value] : condition->members())
    if (contains(key, '.')) constraint.fact_keys[fmt::format("{}/{}", part, key)] = condition->where_key(key);
}

Constraint read_constraint(const JsonNode& node) {
  node.allow_only(keys_of("matrix/constraint"));
  Constraint constraint;
  constraint.where = node.where();
  constraint.when = read_partial(node.at("if"), PartialUse::condition);
  auto require = node.find("require");
  auto forbid = node.find("forbid");
  if (require.has_value() == forbid.has_value())
    node.fail(require ? "a constraint has 'require' or 'forbid', not both"
                      : "a constraint needs 'require' or 'forbid'",
              require ? "write two constraints" : "");
  if (require) constraint.require = read_partial(*require, PartialUse::condition);
  if (forbid) constraint.forbid = read_partial(*forbid, PartialUse::condition);
  constraint.reason = read_text(node.at("reason"));
  for (const char* part : {"if", "require", "forbid"}) note_facts(node, part, constraint);
  return constraint;
}

// Reads a matrix file and, depth first and each file once, what it includes.
class MatrixReader {
 public:
  explicit MatrixReader(const FileSystem& files) : files_(files) {}

  Matrix read(const fs::path& file) {
    const JsonDocument document = read_document(files_, file);
    read_file(file.lexically_normal(), document.root());
    return std::move(matrix_);
  }

 private:
  struct OpenFile {
    fs::path file;
    SourceLocation include;  // the entry of "includes" being followed
  };

  void read_file(const fs::path& file, const JsonNode& root);
  void follow(const fs::path& file, const JsonNode& includes);
  void read_included(const fs::path& file, const JsonNode& entry);
  void check_chain(const fs::path& file, const JsonNode& entry) const;

  const FileSystem& files_;
  Matrix matrix_;
  std::vector<OpenFile> open_;
  std::vector<fs::path> done_;
};

void MatrixReader::read_file(const fs::path& file, const JsonNode& root) {
  root.allow_only(keys_of("matrix"));
  std::string name = root.at("name").name();
  const auto axes = root.find("axes");
  const auto groups = root.find("groups");
  const auto includes = root.find("includes");
  if (axes && groups)
    groups->fail("a matrix has 'axes' or 'groups', not both", "make the axes a separate group");
  if (!axes && !groups && !includes) root.fail("a matrix needs 'axes', 'groups' or 'includes'");
  for (const char* key : {"exclude", "include"})
    if (!axes && root.find(key))
      throw Error(ExitCode::input, root.where_key(key), fmt::format("'{}' without 'axes'", key),
                  groups ? "put it into the group that it is about" : "");
  if (open_.empty()) {
    matrix_.name = name;
    matrix_.file = file.string();
  }
  if (includes) follow(file, *includes);
  if (axes) matrix_.groups.push_back(read_group(root, name));
  if (groups)
    for (MatrixGroup& group : read_groups(*groups)) matrix_.groups.push_back(std::move(group));
  if (auto constraints = root.find("constraints"))
    for (const JsonNode& item : constraints->items()) matrix_.constraints.push_back(read_constraint(item));
  done_.push_back(file);
}

void MatrixReader::follow(const fs::path& file, const JsonNode& includes) {
  open_.push_back({file, {}});
  for (const JsonNode& entry : read_at_least_one(includes, "catalogue")) {
    const fs::path path = entry.line_of_text();
    if (path.empty()) entry.fail("expected the name of a matrix file, found an empty string");
    open_.back().include = entry.where();
    read_included((path.is_absolute() ? path : file.parent_path() / path).lexically_normal(), entry);
  }
  open_.pop_back();
}

void MatrixReader::read_included(const fs::path& file, const JsonNode& entry) {
  check_chain(file, entry);
  if (contains(done_, file)) return;
  if (!files_.exists(file) || files_.is_directory(file)) {
    MissingFile missing = describe_missing(files_, file);
    entry.fail(std::move(missing.message), std::move(missing.hint));
  }
  const JsonDocument document = read_document(files_, file);
  read_file(file, document.root());
}

void MatrixReader::check_chain(const fs::path& file, const JsonNode& entry) const {
  auto start = std::ranges::find_if(open_, [&](const OpenFile& open) { return open.file == file; });
  if (start == open_.end()) {
    if (open_.size() < kMaxIncludeDepth) return;
    entry.fail(fmt::format("catalogues include each other more than {} deep", kMaxIncludeDepth));
  }
  std::string chain;
  for (auto open = start; open != open_.end(); ++open)
    chain += fmt::format("{}:{}:{} includes ", open->include.file, open->include.line, open->include.column);
  entry.fail("catalogues include each other in a circle: " + chain + file.string());
}

}  // namespace

Matrix read_matrix(const FileSystem& files, const fs::path& file) { return MatrixReader(files).read(file); }

std::uint64_t checked_size(const MatrixGroup& group, std::uint64_t limit) {
  std::vector<AxisSize> axes;
  for (const Axis& axis : group.axes) axes.push_back({axis.name, axis.values.size()});
  return checked_product(group.name, std::move(axes), limit, group.axes.front().where);
}

}  // namespace kiln
