#include "factory/cli/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "factory/cli/options.h"
#include "factory/cli/options_text.h"

namespace kiln {
namespace {

// The innermost command that was named.
const CLI::App& named_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

std::string see_help(const CLI::App& command) { return fmt::format("see `{} --help`", full_name(command)); }

std::string hint_or(std::string hint, std::string other) {
  if (hint.empty()) return other;
  return hint;
}

const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent())
    if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
  return nullptr;
}

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : subcommands_of(command)) names.push_back(sub->get_name());
  return names;
}

// `-f x` before `build`: an option of the command that follows it.
bool comes_before_its_command(const CLI::App& command, const std::string& option) {
  return command.get_parent() != nullptr && command.get_option_no_throw(option) != nullptr;
}

Error unknown_option(const CLI::App& command, const std::string& word) {
  std::string name = word.substr(0, word.find('='));
  if (comes_before_its_command(command, name))
    return Error(ExitCode::usage,
                 fmt::format("'{}' is before '{}', and is an option of it", name, command.get_name()),
                 fmt::format("write it after the command: {} {} ...", full_name(command), name));
  std::vector<std::string> known;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent())
    for (const CLI::Option* option : options_of(*app))
      for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
  return Error(ExitCode::usage, fmt::format("{} has no option '{}'", full_name(command), name),
               hint_or(did_you_mean(name, known), see_help(command)));
}

Error unknown_word(const CLI::App& command, const std::string& word) {
  const std::vector<std::string> known = command_names(command);
  std::string what = known.empty() ? "takes no argument" : "has no command";
  return Error(ExitCode::usage, fmt::format("{} {} '{}'", full_name(command), what, word),
               hint_or(did_you_mean(word, known), see_help(command)));
}

// "--format: xml not in {table,json}"
Error wrong_value(const CLI::App& command, const std::string& message) {
  std::size_t colon = message.find(": ");
  std::string name = message.substr(0, colon);
  std::string rest = colon == std::string::npos ? "" : message.substr(colon + 2);
  const CLI::Option* option = find_option(command, name);
  std::vector<std::string> choices = option == nullptr ? std::vector<std::string>{} : choices_of(*option);
  std::size_t end = rest.rfind(" not in {");
  if (option != nullptr && option->get_positional()) name = value_label(*option);
  if (std::size_t range = rest.find(" not in range ");
      rest.starts_with("Value ") && range != std::string::npos)
    return Error(ExitCode::usage, fmt::format("{}: expected a number from {}, found '{}'", name,
                                              rest.substr(range + 14), rest.substr(6, range - 6)));
  if (choices.empty() || end == std::string::npos) return Error(ExitCode::usage, message, see_help(command));
  std::string value = rest.substr(0, end);
  return Error(ExitCode::usage,
               fmt::format("{}: expected {}, found '{}'", name, fmt::join(choices, ", "), value),
               did_you_mean(value, choices));
}

// "Could not convert: --jobs = many"
Error no_number(const CLI::App& command, const std::string& message) {
  std::size_t colon = message.find(": ");
  std::size_t equals = message.find(" = ");
  if (colon == std::string::npos || equals == std::string::npos || equals < colon)
    return Error(ExitCode::usage, message, see_help(command));
  return Error(ExitCode::usage,
               fmt::format("{}: expected a number, found '{}'", message.substr(colon + 2, equals - colon - 2),
                           message.substr(equals + 3)));
}

Error missing(const CLI::App& command, const std::string& message) {
  std::string name = message.substr(0, message.find(' '));
  const CLI::Option* option = find_option(command, name);
  if (option == nullptr)
    return Error(ExitCode::usage, fmt::format("{} needs a command", full_name(command)), see_help(command));
  std::string choices = fmt::format("{}", fmt::join(choices_of(*option), ", "));
  if (option->get_positional())
    return Error(ExitCode::usage, fmt::format("{} needs {}", full_name(command), value_label(*option)),
                 hint_or(choices, see_help(command)));
  return Error(ExitCode::usage, message, fmt::format("usage: {}", usage_of(command)));
}

// "--format: 1 required TEXT missing"
Error no_value(const CLI::App& command, const std::string& message) {
  std::string name = message.substr(0, message.find(':'));
  const CLI::Option* option = find_option(command, name);
  if (option == nullptr || message.find("missing") == std::string::npos)
    return Error(ExitCode::usage, message, see_help(command));
  std::string choices = fmt::format("{}", fmt::join(choices_of(*option), ", "));
  return Error(ExitCode::usage, fmt::format("{} needs a value: {}", name, value_label(*option)), choices);
}

bool some_command_has(const CLI::App& command, const std::string& option) {
  const auto commands = subcommands_of(command);
  return std::ranges::any_of(commands, [&](const CLI::App* one) {
    return one->get_option_no_throw(option.substr(0, option.find('='))) != nullptr ||
           some_command_has(*one, option);
  });
}

// A misspelt command hides its options: of `kiln buld -f x` the parser knows neither. Null: no word stands
// where the command should, or only one after an unknown option, which may be the option's value, and is like
// no command.
const std::string* misspelt_command(const CLI::App& command, const std::vector<std::string>& left) {
  const std::vector<std::string> known = command_names(command);
  if (known.empty() || !positionals_of(command).empty()) return nullptr;
  bool after_option = false;
  for (const std::string& word : left) {
    if (word.starts_with('-') && word.size() > 1) {
      if (!some_command_has(command, word)) return nullptr;  // that is the mistake
      after_option = true;
    } else if (!after_option || !nearest(word, known).empty())
      return &word;
  }
  return nullptr;
}

// CLI11 counts a variable like a word of the command line.
bool is_from_environment(const CLI::Option& option) {
  const char* value = option.get_envname().empty() ? nullptr : std::getenv(option.get_envname().c_str());
  return value != nullptr && option.results() == std::vector<std::string>{value};
}

void refuse_parent_options(const CLI::App& command) {
  const CLI::App& parent = *command.get_parent();
  for (const CLI::Option* option : positionals_of(parent))
    if (option->count() > 0) throw unknown_word(command, option->results().front());
  for (const CLI::Option* option : options_of(parent))
    if (option->count() > 0 && !is_from_environment(*option))
      throw Error(ExitCode::usage,
                  fmt::format("{} and '{}' do not go together", names_of(*option), command.get_name()),
                  fmt::format("it is an option of `{}` itself", full_name(parent)));
}

}  // namespace

Error usage_error(const CLI::App& app, const CLI::ParseError& problem) {
  const CLI::App& command = named_command(app);
  const auto kind = static_cast<CLI::ExitCodes>(problem.get_exit_code());
  const std::string message = problem.what();
  const std::vector<std::string> left = app.remaining(true);
  if (const std::string* word = misspelt_command(command, left)) return unknown_word(command, *word);
  for (const std::string& word : left)
    if (word.size() > 1 && word.front() == '-') return unknown_option(command, word);
  if (!left.empty() && (kind == CLI::ExitCodes::ExtrasError || !subcommands_of(command).empty()))
    return unknown_word(command, left.front());
  if (kind == CLI::ExitCodes::ValidationError) return wrong_value(command, message);
  if (kind == CLI::ExitCodes::ConversionError) return no_number(command, message);
  if (kind == CLI::ExitCodes::RequiredError) return missing(command, message);
  if (kind == CLI::ExitCodes::ArgumentMismatch) return no_value(command, message);
  if (std::size_t at = message.find(" excludes ");
      kind == CLI::ExitCodes::ExcludesError && at != std::string::npos)
    return Error(ExitCode::usage,
                 fmt::format("{} and {} exclude each other", message.substr(0, at), message.substr(at + 10)));
  return Error(ExitCode::usage, message, see_help(command));
}

void refuse_unknown_command(const CLI::App& app) {
  const CLI::App& command = named_command(app);
  if (subcommands_of(command).empty()) return;
  for (const std::string& word : app.remaining(true))
    if (!word.starts_with('-')) throw unknown_word(command, word);
}

void call_alone(CLI::App& command, std::function<void()> act) {
  command.callback([&command, act = std::move(act)] {
    refuse_parent_options(command);
    act();
  });
}

void refuse_together(const CLI::App& command, const std::string& one, const std::string& other,
                     const std::string& why) {
  if (command.count(one) > 0 && command.count(other) > 0)
    throw Error(ExitCode::usage, fmt::format("{} and {} do not go together", one, other), why);
}

}  // namespace kiln
