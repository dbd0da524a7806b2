#include "factory/import/legacy_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/source/shell.h"
#include "factory/source/shell_tokens.h"

namespace kiln {

std::string LegacyScript::head(const std::string& from) {
  return fmt::format("# Imported from {}.\nkiln_files=${{kiln_files:-$(pwd)}}\ncd /\n", printable_name(from));
}

std::string printable_name(const std::string& path) {
  std::string plain = without_controls(path);
  std::replace_if(plain.begin(), plain.end(), is_control, '?');
  return plain;
}

void LegacyScript::comment(int line, std::string_view what) {
  text_ += fmt::format("\n# line {}: {}\n", line, what);
}

void LegacyScript::add(const std::string& line) { text_ += line + "\n"; }

void LegacyScript::set(const std::string& name, const std::string& value) {
  text_ += fmt::format("export {}={}\n", name, shell_text_word(value));
}

void LegacyScript::block(std::string_view body, bool stops) {
  text_ += fmt::format("(\nset {}\n{}", stops ? "+u" : "+eu", body);
  if (!body.ends_with('\n')) text_ += '\n';
  text_ += ")\n";
}

std::string without_open_end(std::string_view name, std::string value) {
  if (!name.ends_with("PATH") || value.find('/') == std::string::npos) return value;
  while (value.ends_with(':')) value.pop_back();
  while (value.starts_with(':')) value.erase(0, 1);
  return value;
}

bool changes_only_its_shell(const std::string& text) {
  static const std::set<std::string> kShellOnly = {"export", "cd",     "source", ".",
                                                   "alias",  "ulimit", "umask",  "set"};
  const ShellText shell = read_shell(text);
  const auto& commands = shell.commands;
  return !commands.empty() && !shell.compound &&
         std::all_of(commands.begin(), commands.end(), [](const ShellCommand& command) {
           return command.in_substitution ||
                  (!command.words.empty() && kShellOnly.contains(command.words[0].text));
         });
}

std::string broken_as_written(const DockerInstruction& one) {
  std::string broken;
  std::size_t from = 0;
  for (const auto& [offset, place] : one.pieces) {
    if (offset == 0 || offset >= one.text.size()) continue;
    broken += fmt::format("{} \\\n", trim_right(std::string_view(one.text).substr(from, offset - from)));
    from = offset;
  }
  broken += one.text.substr(from);
  auto words = [](const std::string& text) {
    std::vector<std::string> raw;
    for (const ShellToken& token : shell_tokens(text).tokens) raw.push_back(token.raw);
    return raw;
  };
  return one.heredocs.empty() && words(broken) == words(one.text) ? broken : one.text;
}

}  // namespace kiln
