// kiln man: the manual pages, one a command, made from the command line's own definitions. The format is
// man(7)'s.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/options_text.h"
#include "factory/cli/print.h"

namespace kiln {
namespace {

// roff: a leading dot or quote would be a request, a backslash an escape, a dash a hyphen.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string page_name(const CLI::App& command) {
  std::string name = full_name(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string paragraph(const std::string& term, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", term, roff(text));
}

// Names in bold, what the user fills in in italics.
std::string option_term(const CLI::Option& option) {
  if (option.get_positional()) return "\\fI" + roff(value_label(option)) + "\\fR";
  std::string term = "\\fB" + roff(names_of(option)) + "\\fR";
  return takes_value(option) ? term + " \\fI" + roff(value_label(option)) + "\\fR" : term;
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : fmt::format(".SH {}\n{}", title, body);
}

std::string explained(const Explanations& all) {
  std::string out;
  for (const auto& [name, text] : all) out += paragraph("\\fB" + roff(name) + "\\fR", text);
  return out;
}

std::string described(const std::vector<const CLI::Option*>& options) {
  std::string out;
  for (const CLI::Option* option : options) out += paragraph(option_term(*option), description_of(*option));
  return out;
}

std::string commands(const CLI::App& command) {
  std::string out;
  for (const auto& [title, group] : grouped_commands(command)) {
    if (!title.empty()) out += fmt::format(".SS {}\n", roff(title));
    for (const CLI::App* sub : group)
      out += paragraph(fmt::format("\\fB{}\\fR(1)", roff(page_name(*sub))), sub->get_description());
  }
  return out;
}

std::string examples(const CLI::App& command) {
  std::string lines = footer_of(command).examples;
  return lines.empty() ? "" : ".EX\n" + roff(lines) + "\n.EE\n";
}

std::string page(const CLI::App& command) {
  const bool top = command.get_parent() == nullptr;
  std::string name = page_name(command);
  std::string out =
      fmt::format(".TH \"{}\" 1 \"\" \"kiln {}\" \"kiln manual\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n",
                  roff(upper_case(name)), KILN_VERSION, roff(name), roff(command.get_description()),
                  roff(usage_of(command)));
  out += section("ARGUMENTS", described(positionals_of(command)));
  out += section("OPTIONS", described(options_of(command)));
  out += section("COMMANDS", commands(command));
  out += section("EXAMPLES", examples(command));
  if (std::string notes = footer_of(command).notes; !notes.empty())
    out += section("NOTES", ".nf\n" + roff(notes) + "\n.fi\n");
  if (top)
    return out + section("EXIT STATUS", explained(exit_codes())) +
           section("ENVIRONMENT", explained(environment_names()));
  return out + section("SEE ALSO",
                       fmt::format("\\fB{}\\fR(1)\n", roff(page_name(*command.get_parent()))) +
                           (command.get_parent()->get_parent() == nullptr ? "" : ".br\n\\fBkiln\\fR(1)\n") +
                           "for the options of every command, the environment and the exit status\n");
}

void write_pages(const CLI::App& command, const fs::path& folder, FileSystem& files) {
  files.write(folder / (page_name(command) + ".1"), page(command));
  for (const CLI::App* sub : subcommands_of(command)) write_pages(*sub, folder, files);
}

const CLI::App& find_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    std::vector<std::string> known;
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : subcommands_of(*command)) {
      known.push_back(sub->get_name());
      if (sub->get_name() == word) next = sub;
    }
    if (next == nullptr)
      throw Error(ExitCode::usage, fmt::format("{} has no command '{}'", full_name(*command), word),
                  did_you_mean(word, known));
    command = next;
  }
  return *command;
}

struct Options {
  std::vector<std::string> words;
  std::string folder;
};

}  // namespace

CLI::App* add_man(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_below(app, "man", "Print the manual page of a command, or write all of them",
                                "kiln man plan | man -l -\nkiln man -o /usr/local/share/man/man1");
  add_value(*command, "command", options->words, "COMMAND",
            "a command such as plan, or index list (default: kiln itself)");
  add_value(*command, "-o,--output", options->folder, "DIR",
            "write the pages of all commands into this folder");
  command->callback([options, &app, &invocation] {
    if (options->folder.empty()) return print_bytes(page(find_command(app, options->words)));
    if (!options->words.empty())
      throw Error(ExitCode::usage, "COMMAND and --output do not go together", "--output writes all pages");
    write_pages(app, options->folder, invocation.files);
  });
  return command;
}

}  // namespace kiln
