// kiln completion: shell completions and the manual page, made from the command line's own definitions.
#include <fmt/format.h>

#include <algorithm>

#include "cli/invocation.h"

namespace kiln {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> option_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    for (const std::string& name : option->get_snames()) words.push_back("-" + name);
  }
  return words;
}

std::vector<std::string> words_after(const CLI::App& command, const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* sub : subcommands(command)) words.push_back(sub->get_name());
  for (const std::string& word : option_words(command)) words.push_back(word);
  if (&command != &app)
    for (const std::string& word : option_words(app)) words.push_back(word);
  return words;
}

std::string bash(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* command : subcommands(app))
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(),
                         fmt::join(words_after(*command, app), " "));
  return fmt::format(
      "# bash completion for kiln: source it, or put it into /etc/bash_completion.d\n"
      "_kiln() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" words='{}' word\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case $word in\n{}    esac\n"
      "  done\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "  [ ${{#COMPREPLY[@]}} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
      "}}\n"
      "complete -o filenames -F _kiln kiln\n",
      fmt::join(words_after(app, app), " "), cases);
}

std::string zsh(const CLI::App& app) {
  return "#compdef kiln\nautoload -U +X bashcompinit && bashcompinit\n" + bash(app);
}

std::string fish_quote(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return "'" + text + "'";
}

std::string fish(const CLI::App& app) {
  std::string out = "# fish completion for kiln\n";
  auto options = [&](const CLI::App& command, const std::string& condition) {
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_lnames().empty()) continue;
      out += fmt::format("complete -c kiln{} -l {}", condition, option->get_lnames().front());
      if (!option->get_snames().empty()) out += " -s " + option->get_snames().front();
      out += fmt::format(" -d {}\n", fish_quote(option->get_description()));
    }
  };
  options(app, "");
  for (const CLI::App* command : subcommands(app)) {
    out += fmt::format("complete -c kiln -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                       fish_quote(command->get_description()));
    options(*command, fmt::format(" -n '__fish_seen_subcommand_from {}'", command->get_name()));
  }
  return out;
}

// roff: a leading dot or quote would be a request, a backslash an escape, a dash a hyphen.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

void manual_options(const CLI::App& command, std::string& out) {
  for (const CLI::Option* option : command.get_options()) {
    std::string name =
        option->get_positional() ? option->get_name(true, false) : option->get_name(false, true);
    std::string type = option->get_type_name();
    if (option->get_items_expected_max() > 0 && !option->get_positional() && !type.empty())
      name += " " + type;
    out += fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(option->get_description()));
  }
}

void manual_commands(const CLI::App& app, const std::string& prefix, std::string& out) {
  for (const CLI::App* command : subcommands(app)) {
    std::string name = prefix + command->get_name();
    out += fmt::format(".SS {}\n{}.\n", roff(name), roff(command->get_description()));
    manual_options(*command, out);
    manual_commands(*command, name + " ", out);
  }
}

std::string manual(const CLI::App& app) {
  std::string out = fmt::format(
      ".TH KILN 1 \"\" \"kiln {}\" \"User Commands\"\n.SH NAME\nkiln \\- an image factory for AI and HPC "
      "sites\n"
      ".SH SYNOPSIS\n.B kiln\n[options] command [options]\n.SH OPTIONS\n",
      KILN_VERSION);
  manual_options(app, out);
  out += ".SH COMMANDS\n";
  manual_commands(app, "kiln ", out);
  out += ".SH NOTES\n.nf\n" + roff(app.get_footer()) + ".fi\n";
  return out;
}

}  // namespace

CLI::App* add_completion(CLI::App& app, Invocation&) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print the completion of a shell, or the manual page (man)");
  command->add_option("shell", *shell, "bash, zsh, fish or man")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  command->callback([shell, &app] {
    fmt::print("{}", *shell == "bash"   ? bash(app)
                     : *shell == "zsh"  ? zsh(app)
                     : *shell == "fish" ? fish(app)
                                        : manual(app));
  });
  return command;
}

}  // namespace kiln
