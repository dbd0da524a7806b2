#include "factory/lint/pip_call.h"

#include <algorithm>

namespace kiln::lint {

std::optional<PipCall> pip_call(const ShellCommand& command) {
  PipCall pip;
  pip.call = call_of(command);
  auto& words = pip.call.arguments;
  if (pip.call.program == "uv" && !words.empty() && words.front()->text == "pip")
    words.erase(words.begin());
  else if (!is_pip(pip.call.program))
    return std::nullopt;
  auto read = read_pip_words(words);
  if (!read) return std::nullopt;
  pip.words = std::move(*read);
  for (const ShellToken* word : pip.words.operands)
    if (PipPackage one = read_pip_package(word->text, word->span); !one.name.empty() || !one.url.empty())
      pip.packages.push_back(std::move(one));
  return pip;
}

bool wrapped_with(const ScriptUnit& unit, std::string_view option) {
  const auto& names = unit.shell.functions;
  if (std::find(names.begin(), names.end(), "pip") == names.end()) return false;
  return std::any_of(unit.shell.commands.begin(), unit.shell.commands.end(),
                     [&](const ShellCommand& command) {
                       const Call call = call_of(command);
                       return call.program == "pip" && call.has("$@") && call.has(option);
                     });
}

}  // namespace kiln::lint
