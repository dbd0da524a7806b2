#include "factory/import/legacy_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/source/shell.h"

namespace kiln {
namespace {

constexpr std::string_view kRpmWords[] = {"centos", "rocky",    "alma", "fedora",      "ubi",
                                          "redhat", "opensuse", "suse", "amazonlinux", "oraclelinux"};

// The distributions of rpm.
bool has_bash_as_sh(const std::string& base) {
  const std::string name = lower_case(base);
  return std::ranges::any_of(kRpmWords, [&](std::string_view word) { return contains(name, word); });
}

}  // namespace

std::string LegacyScript::head(const std::string& from, const std::string& base) {
  return fmt::format("#!/bin/sh -eu\n{}# Imported from {}.\nkiln_files=${{kiln_files:-$(pwd)}}\ncd /\n",
                     has_bash_as_sh(base) ? "# shellcheck shell=bash\n" : "", printable_name(from));
}

std::string printable_name(const std::string& path) {
  std::string plain = without_controls(path);
  std::ranges::replace_if(plain, is_control, '?');
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

std::string make_folder_of(const std::string& path) {
  return "mkdir -p " + shell_text_word(path.substr(0, path.rfind('/') + 1));
}

std::string move_path(const std::string& from, const std::string& to) {
  return fmt::format("{}\ncp -a {} {}\n", make_folder_of(to), shell_text_word(from), shell_text_word(to));
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
  while (contains("\n" + std::string(text), "\n" + end + "\n")) end += "_";
  return fmt::format(
      "kiln_script=$(mktemp)\ncat >\"$kiln_script\" <<'{0}'\n{1}{2}{0}\n{3}{4}{5} \"$kiln_script\"\n"
      "rm -f \"$kiln_script\"\n",
      end, text, text.ends_with('\n') ? "" : "\n", shell_text_word(line.substr(0, blank)),
      argument.empty() ? "" : " ", argument.empty() ? "" : shell_text_word(argument));
}

std::string without_open_end(std::string_view name, std::string value) {
  if (!name.ends_with("PATH") || !contains(value, '/')) return value;
  while (value.ends_with(':')) value.pop_back();
  while (value.starts_with(':')) value.erase(0, 1);
  return value;
}

bool changes_only_its_shell(const std::string& text) {
  const ShellText shell = read_shell(text);
  const auto& commands = shell.commands;
  return !commands.empty() && !shell.compound &&
         std::ranges::all_of(commands, [](const ShellCommand& command) {
           return command.in_substitution ||
                  (!command.words.empty() &&
                   is_one_of(command.words[0].text, "export cd source . alias ulimit umask set"));
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

namespace {

// Where Apptainer keeps what the base sets; a step of kiln has it in its environment already.
constexpr std::string_view kOwnFolder = "/.singularity.d/";
constexpr std::string_view kEnvironmentFiles[] = {"SINGULARITY_ENVIRONMENT", "APPTAINER_ENVIRONMENT"};

bool is_environment_file(const ShellToken& word) {
  return std::ranges::any_of(kEnvironmentFiles, [&](std::string_view name) {
    return word.text == fmt::format("${}", name) || word.text == fmt::format("${{{}}}", name);
  });
}

bool reads_own_folder(const ShellCommand& command) {
  if (command.words.size() < 2) return false;
  const std::string& program = command.words[0].text;
  return (program == "." || program == "source") && command.words[1].text.starts_with(kOwnFolder);
}

// The lines of the heredoc that the command reads; nothing where it reads none, or where the shell would
// change them.
std::optional<std::string> heredoc_of(std::string_view body, const ShellCommand& command) {
  for (const ShellRedirect& redirect : command.redirects) {
    if (redirect.sign != "<<" && redirect.sign != "<<-") continue;
    std::string text;
    for (std::size_t at = body.find('\n', command.span.end); at != std::string_view::npos;
         at = body.find('\n', at + 1)) {
      const std::string_view rest = body.substr(at + 1);
      const std::string_view line = rest.substr(0, rest.find('\n'));
      if (trimmed(line) == redirect.target.text) break;
      text += std::string(line) + "\n";
    }
    if (redirect.target.quoted) return text;
    if (text.find_first_of("$`") == std::string::npos && !contains(text, '\\')) return text;
    return std::nullopt;
  }
  return std::nullopt;
}

// What `echo` and `cat <<'END'` print, where that is in the file.
std::optional<std::string> printed_by(std::string_view body, const ShellCommand& command) {
  if (command.depth > 0 || command.in_substitution || !command.lead.empty() || command.words.empty())
    return std::nullopt;
  const std::string& program = command.words[0].text;
  if (program == "cat" && command.words.size() == 1) return heredoc_of(body, command);
  if (program != "echo" && program != "printf") return std::nullopt;
  std::string text;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const ShellToken& word = command.words[i];
    if (!word.literal) return std::nullopt;
    if (i == 1 && program == "echo" && (word.text == "-e" || word.text == "-n")) continue;
    text += (text.empty() ? "" : " ") + word.text;
  }
  for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at + 1))
    text.replace(at, 2, "\n");
  return !contains(text, '%') || program == "echo" ? std::optional(text) : std::nullopt;
}

// The assignments of a text that does nothing else.
std::optional<std::vector<std::string>> assignments_in(const std::string& text) {
  std::vector<std::string> words;
  for (const ShellCommand& command : read_shell(text).commands) {
    const bool exports = !command.words.empty() && command.words[0].raw == "export";
    if (command.depth > 0 || command.in_substitution || !command.lead.empty() || !command.redirects.empty())
      return std::nullopt;
    for (std::size_t i = exports ? 1 : 0; i < command.words.size(); ++i) {
      if (assigned_name(command.words[i].raw).empty()) return std::nullopt;
      words.push_back(command.words[i].raw);
    }
  }
  return words;
}

class PostReader {
 public:
  explicit PostReader(std::string_view body) : body_(body) { out_.text = body; }
  PostScript read();

 private:
  void writes(const ShellCommand& command);
  void others(const ShellText& shell);
  void blank_out(const ShellCommand& command);

  std::string_view body_;
  std::vector<std::size_t> seen_;  // offsets of the names that writes() has looked at
  PostScript out_;
};

PostScript PostReader::read() {
  const ShellText shell = read_shell(body_);
  for (auto command = shell.commands.rbegin(); command != shell.commands.rend(); ++command)
    if (reads_own_folder(*command)) blank_out(*command);
  for (const ShellCommand& command : shell.commands) writes(command);
  others(shell);
  std::ranges::sort(out_.notes, {}, &PostNote::offset);
  return std::move(out_);
}

// REQUIRES: from the last one to the first, so that offsets hold.
void PostReader::blank_out(const ShellCommand& command) {
  const std::string_view written = body_.substr(command.span.begin, command.span.end - command.span.begin);
  std::string nothing = ":";
  for (std::ptrdiff_t i = std::ranges::count(written, '\n'); i > 0; --i) nothing += " \\\n";
  out_.text.replace(command.span.begin, written.size(), nothing);
  out_.notes.push_back({command.span.begin, "base-environment",
                        fmt::format("'{} {}' is left out: a step of kiln has the base's environment",
                                    command.words[0].text, command.words[1].text)});
}

void PostReader::writes(const ShellCommand& command) {
  for (const ShellRedirect& redirect : command.redirects) {
    if (!redirect.sign.starts_with('>') || !is_environment_file(redirect.target)) continue;
    out_.writes_environment = true;
    const std::size_t name = body_.find("_ENVIRONMENT", redirect.target.span.begin);
    seen_.push_back(name);
    auto text = printed_by(body_, command);
    auto words = text ? assignments_in(*text) : std::nullopt;
    if (!words) {
      out_.notes.push_back(
          {command.span.begin, "environment",
           fmt::format(
               "the text written to {} is known only when %post runs, and is in no environment of the recipe",
               redirect.target.text)});
      continue;
    }
    for (std::string& word : *words) out_.environment.push_back({command.span.begin, std::move(word)});
  }
}

// Other uses of the file: { …; } >>$SINGULARITY_ENVIRONMENT, tee -a, cp.
void PostReader::others(const ShellText& shell) {
  for (std::string_view name : kEnvironmentFiles) {
    for (std::size_t at = body_.find(name); at != std::string_view::npos; at = body_.find(name, at + 1)) {
      const std::size_t end = at + name.find("_ENVIRONMENT");
      const bool comment = std::ranges::any_of(shell.comments, [&](const ShellComment& one) {
        return one.offset <= at && at <= one.offset + one.text.size() + 1;
      });
      if (comment || contains(seen_, end)) continue;
      out_.writes_environment = true;
      out_.notes.push_back({at, "environment",
                            fmt::format("the text written to ${} is known only when %post runs, and is in no "
                                        "environment of the recipe",
                                        name)});
    }
  }
}

}  // namespace

PostScript adapt_post(std::string_view body) { return PostReader(body).read(); }

}  // namespace kiln
