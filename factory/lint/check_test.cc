// Tests: that there is one, and that it can fail.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/lint/check_script.h"
#include "factory/lint/recipe_source.h"

namespace kiln::lint {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

// Commands that prove nothing, whatever they do.
bool proves_nothing(const ShellCommand& command) {
  static constexpr std::array<std::string_view, 19> kPrograms = {
      "",   "echo",  "printf", "true",  ":",      "set",      "export", "cd",  "trap", "umask",
      "rm", "mkdir", "unset",  "sleep", "mktemp", "readonly", "shift",  "for", "case"};
  const Call call = call_of(command);
  if (call.program == "exit") return call.arguments.empty() || call.arguments.front()->text == "0";
  return command.in_substitution || is_one_of(call.program, kPrograms);
}

bool forgives(const ShellCommand& command) {
  static constexpr std::array<std::string_view, 4> kPrograms = {"true", ":", "echo", "printf"};
  return command.before == "||" && is_one_of(call_of(command).program, kPrograms);
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
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
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
  ScriptUnit unit{&file, all, ScriptPlace::test, read_shell(file.text(), all)};
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
           return word->text.find("import ") != std::string::npos;
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
  if (unit.place == ScriptPlace::test || unit.place == ScriptPlace::other ||
      unit.place == ScriptPlace::environment)
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

}  // namespace kiln::lint
