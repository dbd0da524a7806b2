#include "factory/lint/apt_call.h"

#include <algorithm>
#include <array>

namespace kiln::lint {
namespace {

constexpr std::array<std::string_view, 5> kWithValue = {"-o", "-t", "-c", "--option", "--target-release"};

}  // namespace

std::vector<const ShellToken*> AptCall::packages() const {
  std::vector<const ShellToken*> all;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const ShellToken* word = call.arguments[i];
    if (std::find(kWithValue.begin(), kWithValue.end(), word->text) != kWithValue.end())
      ++i;
    else if (word != verb && !word->text.starts_with('-'))
      all.push_back(word);
  }
  return all;
}

std::vector<AptCall> apt_calls(const ScriptUnit& unit) {
  std::vector<AptCall> calls;
  for (const ShellCommand& command : unit.shell.commands) {
    Call call = call_of(command);
    if (call.program != "apt-get" && call.program != "apt" && call.program != "aptitude") continue;
    const ShellToken* verb = call.subcommand({kWithValue.begin(), kWithValue.end()});
    if (verb != nullptr) calls.push_back({&command, call, verb});
  }
  return calls;
}

}  // namespace kiln::lint
