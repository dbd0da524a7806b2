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

namespace {

constexpr std::string_view kRpmWords[] = {"centos", "rocky",    "alma", "fedora",      "ubi",
                                          "redhat", "opensuse", "suse", "amazonlinux", "oraclelinux"};

// The distributions of rpm.
bool has_bash_as_sh(const std::string& base) {
  const std::string name = lower_case(base);
  return std::any_of(std::begin(kRpmWords), std::end(kRpmWords),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

}  // namespace

std::string LegacyScript::head(const std::string& from, const std::string& base) {
  return fmt::format("#!/bin/sh -eu\n{}# Imported from {}.\nkiln_files=${{kiln_files:-$(pwd)}}\ncd /\n",
                     has_bash_as_sh(base) ? "# shellcheck shell=bash\n" : "", printable_name(from));
}

std::string printable_name(const std::string& path) {
  std::string plain = without_controls(path);
  std::replace_if(plain.begin(), plain.end(), is_control, '?');
  return plain;
}

void LegacyScript::comment(int line, std::string_view what) {
  text_ += fmt::format("\n# line {}: {}\n", line, what);
}

void LegacyScript::add(const std::string& line) {
  text_ += line + "\n";
  end_here();
}

void LegacyScript::set(const std::string& name, const std::string& word) {
  text_ += fmt::format("export {}={}\n", name, word);
}

void LegacyScript::change_folder(const std::string& folder) {
  add("mkdir -p " + shell_text_word(folder));
  text_ += fmt::format("cd {}\n", shell_text_word(folder));
}

void LegacyScript::start_in(const std::string& folder) {
  if (folder != "/") text_ += fmt::format("cd {}\n", shell_text_word(folder));
}

void LegacyScript::block(std::string_view body, bool stops) {
  text_ += fmt::format("(\nset {}\n{}", stops ? "+u" : "+eu", body);
  if (!body.ends_with('\n')) text_ += '\n';
  text_ += ")\n";
  end_here();
}

bool names_interpreter(std::string_view text) {
  return text.starts_with("#!") && !trimmed(text.substr(2, text.find('\n') - 2)).empty();
}

bool names_shell(std::string_view text) {
  std::string_view line = trimmed(text.substr(2, text.find('\n') - 2));
  const std::vector<std::string_view> words = split(line, ' ');
  const bool env = last_part(words[0]) == "env" && words.size() > 1;
  const std::string_view program = last_part(words[env ? 1 : 0]);
  return names_interpreter(text) && program.ends_with("sh");
}

std::string run_by_interpreter(std::string_view text) {
  const std::string_view line = trimmed(text.substr(2, text.find('\n') - 2));
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view argument = trimmed(line.substr(blank));  // the kernel hands over one at most
  std::string end = "KILN_END";
  while (("\n" + std::string(text)).find("\n" + end + "\n") != std::string::npos) end += "_";
  return fmt::format(
      "kiln_script=$(mktemp)\ncat >\"$kiln_script\" <<'{0}'\n{1}{2}{0}\n{3}{4}{5} \"$kiln_script\"\n"
      "rm -f \"$kiln_script\"\n",
      end, text, text.ends_with('\n') ? "" : "\n", shell_text_word(line.substr(0, blank)),
      argument.empty() ? "" : " ", argument.empty() ? "" : shell_text_word(argument));
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
