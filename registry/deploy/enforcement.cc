#include "registry/deploy/enforcement.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "factory/base/text.h"
#include "registry/select/dsl_words.h"

namespace kiln {

namespace {

struct TemplateCall {
  std::string method;
  std::vector<std::string> arguments;
};
struct TemplateVariable {
  std::string name;
  std::vector<TemplateCall> calls;
};

// name(.method("…", '…'))*
class VariableReader {
 public:
  VariableReader(std::string_view text, const SourceLocation& where) : text_(trimmed(text)), where_(where) {}

  TemplateVariable read() {
    TemplateVariable variable{word(), {}};
    while (skip('.')) {
      TemplateCall call{word(), {}};
      need('(');
      while (!skip(')')) {
        if (!call.arguments.empty()) need(',');
        call.arguments.push_back(quoted());
      }
      check(call);
      variable.calls.push_back(std::move(call));
    }
    blanks();
    if (at_ < text_.size()) fail();
    return variable;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ExitCode::input, where_, fmt::format("invalid variable '{{{{ {} }}}}'", text_.substr(0, 80)),
                "for example {{ preferred_storage_location.replace(\"file://\", \"\") }}");
  }
  void check(const TemplateCall& call) const {
    const std::size_t arguments = call.method == "replace" ? 2 : 0;
    const bool known = call.method == "replace" || call.method == "lower" || call.method == "upper" ||
                       call.method == "strip";
    if (!known || call.arguments.size() != arguments || (arguments == 2 && call.arguments.front().empty()))
      fail();
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool skip(char c) {
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!skip(c)) fail();
  }
  std::string word() {
    blanks();
    const std::size_t from = at_;
    while (at_ < text_.size() && (is_letter_or_digit(text_[at_]) || text_[at_] == '_')) ++at_;
    if (at_ == from || is_digit(text_[from])) fail();
    return std::string(text_.substr(from, at_ - from));
  }
  std::string quoted() {
    blanks();
    if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) fail();
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == text_.npos) fail();
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    if (contains(value, '\\')) fail();
    at_ = end + 1;
    return value;
  }

  std::string_view text_;
  const SourceLocation& where_;
  std::size_t at_ = 0;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string applied(std::string value, const TemplateCall& call) {
  if (call.method == "replace") return replaced(std::move(value), call.arguments[0], call.arguments[1]);
  if (call.method == "lower") return lower_case(value);
  if (call.method == "upper") return upper_case(value);
  return std::string(trimmed(value));
}

// Text with variables as MODAK's scripts have them: {{ name }}, {{ name.replace("file://", "") }}. `value_of`
// returns what replaces a variable. Throws Error(input) at `where` for a filter, a statement ({% … %}) and
// any method except replace, lower, upper and strip.
template <typename ValueOf>
std::string filled_template(std::string_view whole, const SourceLocation& where, const ValueOf& value_of) {
  std::string filled;
  std::size_t at = 0;
  for (std::size_t open = whole.find('{'); open != whole.npos; open = whole.find('{', open + 1)) {
    const std::string_view two = whole.substr(open, 2);
    if (two == "{%")
      throw Error(ExitCode::input, where, "the script has a statement '{%'", "only {{ NAME }} is supported");
    if (two != "{{") continue;
    const std::size_t close = whole.find("}}", open);
    if (close == whole.npos) throw Error(ExitCode::input, where, "'{{' is not closed by '}}'");
    filled += whole.substr(at, open - at);
    filled += value_of(VariableReader(whole.substr(open + 2, close - open - 2), where).read());
    at = close + 2;
    open = close + 1;
  }
  return filled += whole.substr(at);
}

constexpr const char* kStorageVariable = "preferred_storage_location";

void read_conditions(const JsonNode& node, EnforcementScript& script) {
  node.allow_only({"application", "infrastructure"});
  if (auto application = present(node, "application")) {
    application->allow_only({"name", "feature"});
    if (auto name = present(*application, "name")) script.application = lower_case(name->name());
    if (auto features = present(*application, "feature"))
      for (const auto& [key, value] : features->members())
        if (!value.is_null()) script.features[lower_case(key)] = scalar_text(value, {});
    if (script.application.empty() && !script.features.empty())
      application->fail("'feature' requires the name of the application", "add its 'name'");
  }
  if (auto infrastructure = present(node, "infrastructure")) {
    infrastructure->allow_only({"name", "storage_class"});
    if (auto name = present(*infrastructure, "name")) script.infrastructure = name->line_of_text();
    if (auto name = present(*infrastructure, "storage_class"))
      script.storage_class = storage_class_named(name->line_of_text());
  }
}

void check_raw(const JsonNode& node, const std::string& raw) {
  if (trimmed(raw).empty()) node.fail("the script is empty");
  if (contains(raw, '\0')) node.fail("a script must not have NUL in it");
  for (const std::string_view line : split(raw, '\n'))
    for (const char* directive : {"#SBATCH", "#PBS"})
      if (line.starts_with(directive))
        node.fail(fmt::format("the scheduler ignores {} after a command", directive),
                  "options of a job are in job_options");
  filled_template(raw, node.where(), [&](const TemplateVariable& variable) {
    if (variable.name != kStorageVariable)
      node.fail(fmt::format("unknown variable '{}'", variable.name),
                did_you_mean(variable.name, {kStorageVariable}));
    return "";
  });
}

bool has_class(const Infrastructure& infrastructure, const std::string& name) {
  return std::ranges::any_of(infrastructure.storage,
                             [&](const auto& storage) { return storage.second == name; });
}

bool holds(const EnforcementScript& script, const ScriptSituation& situation) {
  const Infrastructure* machines = situation.infrastructure;
  if (!script.infrastructure.empty() && (machines == nullptr || machines->name != script.infrastructure))
    return false;
  if (!script.storage_class.empty() && (machines == nullptr || !has_class(*machines, script.storage_class)))
    return false;
  if (!script.application.empty() && script.application != lower_case(situation.application)) return false;
  return std::ranges::all_of(script.features, [&](const auto& feature) {
    const auto option = situation.options.find(feature.first);
    return option != situation.options.end() && option->second == feature.second;
  });
}

int order_of(const EnforcementScript& script) {
  const bool machines = !script.infrastructure.empty() || !script.storage_class.empty();
  const bool application = !script.application.empty();
  const int group = machines && application ? 3 : application ? 2 : machines ? 1 : 0;
  const int within = group == 1 ? (script.infrastructure.empty()  ? 1
                                   : script.storage_class.empty() ? 0
                                                                  : 2)
                                : (script.features.empty() ? 0 : 1);
  return 4 * group + within;
}

}  // namespace

EnforcementScript read_enforcement_script(const JsonNode& node) {
  node.allow_only({"id", "description", "conditions", "data"});
  EnforcementScript script;
  if (auto id = present(node, "id")) script.id = id->line_of_text();
  if (auto text = present(node, "description")) script.description = text->line_of_text();
  if (auto conditions = present(node, "conditions")) read_conditions(*conditions, script);
  const JsonNode data = node.at("data");
  data.allow_only({"stage", "raw"});
  script.after = word_of(data.at("stage"), {"pre", "post"}, "stage") == "post";
  const JsonNode raw = data.at("raw");
  script.raw = raw.string();
  script.where = raw.where();
  check_raw(raw, script.raw);
  return script;
}

std::string preferred_storage(const ScriptSituation& situation) {
  if (situation.infrastructure == nullptr) return "";
  std::vector<std::string> classes = situation.storage_classes;
  classes.insert(classes.end(), storage_classes().begin(), storage_classes().end());
  for (const std::string& name : classes)
    for (const auto& [url, storage_class] : situation.infrastructure->storage)
      if (storage_class == storage_class_named(name)) return url;
  return "";
}

std::vector<EnforcementScript> scripts_for(const std::vector<EnforcementScript>& scripts,
                                           const ScriptSituation& situation) {
  std::vector<EnforcementScript> found;
  std::set<std::string> ids;
  for (const EnforcementScript& script : scripts)
    if (holds(script, situation) && (script.id.empty() || ids.insert(script.id).second))
      found.push_back(script);
  std::ranges::stable_sort(found, {}, order_of);
  return found;
}

ScriptSituation situation_of(const JobRequest& job, const Infrastructure* infrastructure) {
  return {job.application, job.features, infrastructure, job.storage_classes};
}

std::vector<SiteCommands> site_commands(const std::vector<EnforcementScript>& scripts,
                                        const ScriptSituation& situation) {
  std::vector<SiteCommands> commands;
  for (const EnforcementScript& script : scripts_for(scripts, situation))
    commands.push_back({script.description.empty() ? script.id : script.description,
                        script_text(script, situation), script.after});
  return commands;
}

std::vector<EnforcementScript> read_enforcement_scripts(const JsonDocument& document) {
  std::vector<EnforcementScript> scripts;
  const JsonNode root = document.root();
  if (!root.is_array()) return {read_enforcement_script(root)};
  for (const JsonNode& node : root.items()) scripts.push_back(read_enforcement_script(node));
  return scripts;
}

std::string script_to_check(const EnforcementScript& script) {
  return filled_template(script.raw, script.where, [](const TemplateVariable&) { return "x"; });
}

std::string script_text(const EnforcementScript& script, const ScriptSituation& situation) {
  return filled_template(script.raw, script.where, [&](const TemplateVariable& variable) {
    std::string value = preferred_storage(situation);
    if (value.empty())
      throw Error(ExitCode::input, script.where, fmt::format("the variable '{}' has no value", variable.name),
                  "the infrastructure has no storage");
    for (const TemplateCall& call : variable.calls) value = applied(std::move(value), call);
    const bool plain =
        std::ranges::all_of(value, [](char c) { return is_letter_or_digit(c) || contains("_./:@%+,=-", c); });
    if (!plain)
      throw Error(ExitCode::input, script.where,
                  fmt::format("the value '{}' of '{}' has characters of the shell", value, variable.name));
    return value;
  });
}

}  // namespace kiln
