// Compiler flags for the wrong machine.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/lint/checks.h"
#include "factory/recipe/native_flag.h"

namespace kiln::lint {
namespace {

// A flag such as -march=skylake in `text`; "" without, and for one with a variable.
std::string written_flag(std::string_view text) {
  for (std::string_view flag : {"-march=", "-mcpu=", "-mtune="}) {
    std::size_t at = text.find(flag);
    if (at == std::string_view::npos) continue;
    std::size_t end = at + flag.size();
    while (end < text.size() &&
           (is_letter_or_digit(text[end]) || text[end] == '-' || text[end] == '_' || text[end] == '.'))
      ++end;
    if (end > at + flag.size() && (end == text.size() || text[end] != '$'))
      return std::string(text.substr(at, end - at));
  }
  return "";
}

// Programs that look for the flag or take it away.
bool only_reads(const Call& call) { return call.program == "sed" || call.program == "grep"; }

bool mentions_word(const ScriptUnit& unit, std::string_view name) {
  return std::ranges::any_of(unit.shell.commands, [&](const ShellCommand& command) {
    return std::ranges::any_of(command.words,
                               [&](const ShellToken& word) { return contains(word.text, name); });
  });
}

// TensorFlow's configure writes -march=native for --config=opt when CC_OPT_FLAGS is not set.
void check_tensorflow(const ScriptUnit& unit, Report& report) {
  if (mentions_word(unit, "CC_OPT_FLAGS")) return;
  for (const ShellCommand& command : unit.shell.commands) {
    const Call call = call_of(command);
    const ShellToken* option =
        call.program == "bazel" || call.program == "bazelisk" ? call.find("--config=opt") : nullptr;
    if (option != nullptr)
      add(report, "KL003", unit, command, option->span,
          "--config=opt means -march=native: CC_OPT_FLAGS is not set in this script");
  }
}

}  // namespace

std::string native_text(std::string_view flag) {
  return fmt::format("{} is the builder's {}, not the target's", flag, is_for_gpu(flag) ? "GPU" : "CPU");
}

void check_flags(const ScriptUnit& unit, Report& report) {
  for (const ShellCommand& command : unit.shell.commands) {
    if (only_reads(call_of(command))) continue;
    for (std::size_t i = 0; i < command.words.size(); ++i) {
      const ShellToken& word = command.words[i];
      std::string native = native_flag(word.text);
      if (word.text == "native" && i > 0) native = native_flag(command.words[i - 1].text + " native");
      if (!native.empty()) {
        add(report, "KL003", unit, command, word.span, native_text(native));
      } else if (std::string flag = written_flag(word.text); !flag.empty() && in_recipe(unit.place)) {
        add(report, "KL004", unit, command, word.span, fmt::format("{} is right for one target only", flag));
      }
    }
  }
  check_tensorflow(unit, report);
}

}  // namespace kiln::lint
