// Tests: that there is one, and that it can fail.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/lint/checks.h"
#include "factory/lint/recipe_source.h"
#include "factory/recipe/parameters.h"

namespace kiln::lint {
namespace {

// Commands that prove nothing, whatever they do.
bool proves_nothing(const ShellCommand& command) {
  const Call call = call_of(command);
  if (call.program == "exit") return call.arguments.empty() || call.arguments.front()->text == "0";
  return command.in_substitution || call.program.empty() ||
         is_one_of(call.program,
                   "echo printf true : set export cd trap umask rm mkdir unset sleep mktemp readonly shift "
                   "for case");
}

bool forgives(const ShellCommand& command) {
  return command.before == "||" && is_one_of(call_of(command).program, "true : echo printf");
}

struct TestReading {
  std::vector<const ShellCommand*> checks;  // commands whose failure fails the test
  const ShellCommand* culprit = nullptr;
  std::string reason;
};

TestReading judge(const ShellText& shell) {
  TestReading reading;
  const auto& commands = shell.commands;
  bool forgiving = false;  // set +e
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Call call = call_of(commands[i]);
    forgiving |= call.program == "set" && call.has_prefix("+e");
    if (call.program == "exit" && proves_nothing(commands[i]) && reading.checks.empty() &&
        commands[i].depth == 0 && !shell.compound) {
      reading = {{}, &commands[i], "`exit 0` comes before any check"};
      return reading;
    }
    if (proves_nothing(commands[i])) continue;
    auto next = std::find_if(commands.begin() + static_cast<std::ptrdiff_t>(i) + 1, commands.end(),
                             [](const ShellCommand& other) { return !other.in_substitution; });
    bool forgiven = (commands[i].after == "||" && next != commands.end() && forgives(*next)) ||
                    (forgiving && i + 1 < commands.size() && call.program != "exit");
    if (forgiven) {
      reading.culprit = &commands[i];
      reading.reason = forgiving ? "after set +e its failure is forgotten" : "`|| true` forgives its failure";
    } else {
      reading.checks.push_back(&commands[i]);
    }
  }
  if (!reading.checks.empty()) reading.reason.clear();
  if (reading.checks.empty() && reading.reason.empty()) reading.reason = "nothing here can fail";
  return reading;
}

bool python_asserts(std::string_view text) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "assert",     "raise ",       "sys.exit(", "exit(",  "check_call",
      "check=True", "check_output", "unittest",  "pytest", "quit("};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return contains(text, word); });
}

// The Python file of the recipe that a command runs; null without.
const SourceFile* python_file(const ShellCommand& command, const RecipeSource& recipe) {
  for (const ShellToken& word : command.words)
    if (word.text.ends_with(".py"))
      if (auto found = recipe.files.find(word.text.starts_with("./") ? word.text.substr(2) : word.text);
          found != recipe.files.end())
        return &found->second;
  return nullptr;
}

void check_shell(const RecipeSource& recipe, const SourceFile& file, Report& report) {
  const Span all{0, file.text().size()};
  ScriptUnit unit{&file, all, ScriptRole::test, read_shell(file.text(), all)};
  const TestReading reading = judge(unit.shell);
  if (!reading.reason.empty()) {
    if (reading.culprit != nullptr)
      add(report, "KL041", unit, *reading.culprit, reading.culprit->span, reading.reason);
    else
      report.add("KL041", file, {0, file.line_text(1).size()}, reading.reason);
    return;
  }
  for (const ShellCommand* check : reading.checks) {
    const SourceFile* python = python_file(*check, recipe);
    if (python == nullptr) return;  // a check of the shell's own
    if (python_asserts(python->text())) return;
  }
  const SourceFile* python = python_file(*reading.checks.front(), recipe);
  report.add("KL041", *python, {0, python->line_text(1).size()},
             "no assert, raise or exit: only an import can fail");
}

// A command that does nothing but prove that something works.
bool is_self_test(const ShellCommand& command) {
  const Call call = call_of(command);
  if (call.program == "pytest" || call.program == "ctest") return true;
  if (call.program == "make") return call.has("check") || call.has("test");
  if (!call.program.starts_with("python")) return false;
  if (call.has("-m") && (call.has("pytest") || call.has("unittest"))) return true;
  return call.has("-c") && std::ranges::any_of(call.arguments, [](const ShellToken* word) {
           return contains(word->text, "import ");
         });
}

}  // namespace

void check_test_section(const ScriptUnit& unit, Report& report) {
  if (unit.shell.commands.empty()) return;
  const TestReading reading = judge(unit.shell);
  if (reading.reason.empty()) return;
  const ShellCommand& culprit = reading.culprit != nullptr ? *reading.culprit : unit.shell.commands.front();
  add(report, "KL041", unit, culprit, culprit.span, reading.reason);
}

void check_self_tests(const ScriptUnit& unit, Report& report) {
  if (unit.place == ScriptRole::test || unit.place == ScriptRole::other ||
      unit.place == ScriptRole::environment)
    return;
  const auto& commands = unit.shell.commands;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].after != "||" || !is_self_test(commands[i])) continue;
    auto next = std::find_if(commands.begin() + static_cast<std::ptrdiff_t>(i) + 1, commands.end(),
                             [](const ShellCommand& other) { return !other.in_substitution; });
    if (next != commands.end() && forgives(*next) && call_of(*next).program != "echo" &&
        call_of(*next).program != "printf")
      add(report, "KL041", unit, commands[i], commands[i].span, "`|| true` forgives its failure");
  }
}

void check_recipe_test(const RecipeSource& recipe, Report& report) {
  const Recipe& component = recipe.component;
  for (const SmokeTest& test : component.tests) check_shell(recipe, recipe.files.at(test.script), report);
  if (!component.tests.empty()) return;
  Finding& finding = report.add("KL040", recipe.document.root().where(),
                                fmt::format("nothing proves that {} works in an image", component.name));
  if (component.kind == Kind::workload) finding.severity = Severity::note;
}

// The contract of parameters: what scripts read is declared, what is declared is read.

namespace {

struct Use {
  std::string name;
  Span span;
};

// Flags that build systems read by themselves.
bool is_flag_variable(std::string_view name) { return is_compiler_variable(name) || is_gpu_variable(name); }

// Compilers and build systems read these by themselves, from the environment.
bool is_read_by_tools(std::string_view name) { return is_flag_variable(name) && !name.starts_with("KILN_"); }

bool is_parameter(std::string_view name) { return name.starts_with("KILN_") || is_flag_variable(name); }

bool is_given_to(GivenTo script, std::string_view name) {
  const Parameter* parameter = find_parameter(name);
  return parameter != nullptr && parameter->given_to == script;
}

std::size_t end_of_name(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_letter_or_digit(text[at]) || text[at] == '_')) ++at;
  return at;
}

bool in_comment(const SourceFile& file, std::size_t offset) {
  std::string_view line = file.line_text(file.line_of(offset));
  std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '#';
}

// $NAME and ${NAME…}, but not ${NAME-…} and ${NAME+…}, which allow for its absence.
std::vector<Use> shell_uses(const SourceFile& file) {
  std::vector<Use> uses;
  const std::string& text = file.text();
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
    bool braces = at + 1 < text.size() && text[at + 1] == '{';
    std::size_t start = at + (braces ? 2 : 1);
    std::size_t end = end_of_name(text, start);
    std::string name = text.substr(start, end - start);
    if (!is_parameter(name) || in_comment(file, at)) continue;
    char next = end < text.size() ? text[end] : '\0';
    if (next == ':' && end + 1 < text.size()) next = text[end + 1];
    if (braces && (next == '-' || next == '+' || next == '=')) continue;
    uses.push_back({name, {start, end}});
  }
  return uses;
}

// environ["NAME"] and getenv without a default.
std::vector<Use> python_uses(const SourceFile& file) {
  std::vector<Use> uses;
  const std::string& text = file.text();
  for (std::string_view form : {"environ[\"", "environ['"}) {
    for (std::size_t at = text.find(form); at != std::string::npos; at = text.find(form, at + 1)) {
      std::size_t start = at + form.size();
      std::size_t end = end_of_name(text, start);
      if (is_parameter(text.substr(start, end - start)))
        uses.push_back({text.substr(start, end - start), {start, end}});
    }
  }
  return uses;
}

std::vector<Use> uses_in(const std::string& path, const SourceFile& file) {
  if (path.ends_with(".py")) return python_uses(file);
  return path.ends_with(".txt") ? std::vector<Use>{} : shell_uses(file);
}

bool assigns(const SourceFile& file, const std::string& name) {
  const std::string& text = file.text();
  std::string form = name + "=";
  for (std::size_t at = text.find(form); at != std::string::npos; at = text.find(form, at + 1))
    if (at == 0 || contains(" \t\n;", text[at - 1])) return true;
  return false;
}

std::vector<std::string> files_of(const Method& method) {
  std::vector<std::string> paths = method.files;
  if (!method.script.empty()) paths.push_back(method.script);
  if (!method.rootfs.empty()) paths.push_back(method.rootfs);
  if (!method.archive.empty()) paths.push_back(method.archive);
  if (!method.site.empty()) paths.push_back(method.site);
  if (method.build) paths.push_back(method.build->script);
  return paths;
}

class ParameterCheck {
 public:
  ParameterCheck(const RecipeSource& recipe, Report& report) : recipe_(recipe), report_(report) {}

  void run() {
    for (const Method& method : recipe_.component.methods) {
      check_uses(method, files_of(method), {});
      check_uses(method, test_files(), parameters_of_tests());
      check_declared(method);
    }
  }

 private:
  std::vector<std::string> test_files() const {
    std::vector<std::string> paths;
    for (const SmokeTest& test : recipe_.component.tests) {
      paths.insert(paths.end(), test.files.begin(), test.files.end());
      paths.push_back(test.script);
    }
    return paths;
  }

  void check_uses(const Method& method, const std::vector<std::string>& paths,
                  const std::vector<std::string>& given) {
    for (const std::string& path : paths) {
      const SourceFile& file = recipe_.files.at(path);
      for (const Use& use : uses_in(path, file)) {
        bool known = is_given_to_every_script(use.name) || assigns(file, use.name) ||
                     method.environment.contains(use.name) ||
                     (path == method.archive && is_given_to(GivenTo::archive_script, use.name)) ||
                     contains(method.parameters, use.name) || contains(given, use.name);
        if (known || !reported_.emplace(path, use.name).second) continue;
        report_.add("KL090", file, use.span,
                    fmt::format("method '{}' does not declare {}", method.name, use.name));
      }
    }
  }

  void check_declared(const Method& method) {
    std::vector<std::string> paths = files_of(method);
    for (const std::string& path : test_files()) paths.push_back(path);
    for (std::size_t i = 0; i < method.parameters.size(); ++i) {
      const std::string& name = method.parameters[i];
      if (is_read_by_tools(name) || name == "KILN_VERSION") continue;  // each version is a build of its own
      bool read = std::ranges::any_of(
          paths, [&](const std::string& path) { return contains(recipe_.files.at(path).text(), name); });
      if (read) continue;
      const JsonNode list = recipe_.document.root().at("methods").at(method.name).at("parameters");
      report_.add("KL091", list.items().at(i).where(),
                  fmt::format("no script of method '{}' reads {}", method.name, name));
    }
  }

  const RecipeSource& recipe_;
  Report& report_;
  std::set<std::pair<std::string, std::string>> reported_;
};

}  // namespace

void check_recipe_parameters(const RecipeSource& recipe, Report& report) {
  if (recipe.component.kind == Kind::workload)
    return;  // `kiln bench` hands its scripts variables of their own
  ParameterCheck(recipe, report).run();
}

}  // namespace kiln::lint
