// Passwords, tokens and keys.
#include "factory/lint/check_script.h"
#include "factory/source/secret_words.h"

namespace kiln::lint {

void check_script_secrets(const ScriptUnit& unit, Report& report) {
  for (const ShellCommand& command : unit.shell.commands) {
    for (const ShellToken& word : command.words) {
      if (has_credentials(word.text))
        add(report, "KL061", unit, command, word.span, "this URL has a password");
      std::string_view name = assigned_name(word.text);
      std::string reason;
      if (!name.empty()) {
        reason = secret_in(name, std::string_view(word.text).substr(word.text.find('=') + 1));
      } else if (std::string kind = token_in(word.text); !kind.empty()) {
        reason = "this is " + kind;
      }
      if (!reason.empty()) add(report, "KL060", unit, command, word.span, reason);
    }
  }
}

}  // namespace kiln::lint
