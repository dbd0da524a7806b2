#include "factory/cli/options_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::string as_placeholder(std::string_view name) {
  std::string word = upper_case(name);
  std::ranges::replace(word, '-', '_');
  return word;
}

bool hidden(const CLI::Option& option) { return option.get_group().empty(); }

// "TEXT:{table,json}" of CLI11: its own word for the type, and what the checks add.
std::string type_word(const CLI::Option& option) {
  std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

constexpr std::size_t kWidth = 100;

// "  NAME   text", the texts of all rows aligned; a long name has its text on the next line. `name_width`:
// that of other rows to align with.
std::string rows(const std::string& title, const Explanations& all, std::size_t most_name = 26,
                 std::size_t name_width = 0) {
  if (all.empty()) return "";
  for (const auto& [name, text] : all)
    if (name.size() <= most_name) name_width = std::max(name_width, name.size());
  std::string out = "\n" + title + ":\n";
  const std::size_t indent = name_width + 4;
  for (const auto& [name, text] : all) {
    out += "  " + name;
    out += name.size() > name_width ? "\n" + std::string(indent, ' ')
                                    : std::string(indent - 2 - name.size(), ' ');
    out += wrapped(text, indent, kWidth) + "\n";
  }
  return out;
}

Explanations option_rows(const CLI::App& command) {
  Explanations all;
  for (const CLI::Option* option : options_of(command)) {
    std::string name = names_of(*option);
    if (option->get_snames().empty()) name = "    " + name;
    if (takes_value(*option)) name += " " + value_label(*option);
    all.emplace_back(name, description_of(*option));
  }
  return all;
}

// A part for each group of commands; the texts of all groups aligned.
std::string command_rows(const CLI::App& app) {
  std::size_t widest = 0;
  for (const CLI::App* command : subcommands_of(app)) widest = std::max(widest, command->get_name().size());
  std::string out;
  for (const auto& [title, commands] : grouped_commands(app)) {
    Explanations all;
    for (const CLI::App* command : commands)
      all.emplace_back(command->get_name(), command->get_description());
    out += rows(title.empty() ? "Commands" : title, all, widest, widest);
  }
  return out;
}

std::string examples(const std::string& lines) {
  if (lines.empty()) return "";
  std::string out = "\nExamples:\n";
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) out += "  " + line + "\n";
  return out;
}

}  // namespace

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<std::pair<std::string, std::vector<const CLI::App*>>> grouped_commands(const CLI::App& app) {
  const std::string untitled = CLI::App().get_group();
  std::vector<std::pair<std::string, std::vector<const CLI::App*>>> groups;
  for (const CLI::App* command : subcommands_of(app)) {
    const std::string title = command->get_group() == untitled ? "" : command->get_group();
    auto same = [&](const auto& group) { return group.first == title; };
    auto found = std::ranges::find_if(groups, same);
    if (found == groups.end()) found = groups.insert(groups.end(), {title, {}});
    found->second.push_back(command);
  }
  return groups;
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* option) { return option->nonpositional() && !hidden(*option); });
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* option) { return option->get_positional() && !hidden(*option); });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

bool takes_many(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  std::size_t open = type.find('{');
  std::size_t close = type.rfind('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  for (std::string_view word : split(std::string_view(type).substr(open + 1, close - open - 1), ','))
    choices.emplace_back(word);
  return choices;
}

std::string value_label(const CLI::Option& option) {
  std::string word = type_word(option);
  if (word == "INT" || word == "UINT") return "N";
  if (word != "TEXT") return word;
  if (!option.get_positional() && !choices_of(option).empty() && !option.get_lnames().empty())
    return as_placeholder(option.get_lnames().front());
  return option.get_positional() ? as_placeholder(option.get_name(true, false)) : word;
}

std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return value_label(option);
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  return names;
}

std::string description_of(const CLI::Option& option) {
  std::string text = option.get_description();
  auto choices = choices_of(option);
  bool named = std::ranges::all_of(
      choices, [&](const std::string& choice) { return text.find(choice) != std::string::npos; });
  if (!named) text += fmt::format(": {}", fmt::join(choices, ", "));
  if (option.get_required() && !option.get_positional()) text += "; required";
  if (!option.get_default_str().empty()) text += fmt::format(" (default: {})", option.get_default_str());
  if (!option.get_envname().empty()) text += fmt::format(" [${}]", option.get_envname());
  return text;
}

std::string usage_of(const CLI::App& command) {
  std::string usage = full_name(command);
  for (const CLI::Option* option : options_of(command)) {
    if (!option->get_required()) continue;
    usage += " " + (option->get_snames().empty() ? "--" + option->get_lnames().front()
                                                 : "-" + option->get_snames().front());
    if (takes_value(*option)) usage += " " + value_label(*option);
  }
  usage += " [OPTIONS]";
  for (const CLI::Option* option : positionals_of(command)) {
    std::string word = value_label(*option) + (takes_many(*option) ? "..." : "");
    usage += option->get_required() ? " " + word : " [" + word + "]";
  }
  if (!subcommands_of(command).empty())
    usage += command.get_require_subcommand_min() > 0 ? " COMMAND" : " [COMMAND]";
  return usage;
}

Footer footer_of(const CLI::App& command) {
  const std::string footer = command.get_footer();
  std::size_t end = footer.find("\n\n");
  if (end == std::string::npos) return {footer, ""};
  return {footer.substr(0, end), footer.substr(end + 2)};
}

const Explanations& exit_codes() {
  static const Explanations kCodes = {
      {"0", "done, or nothing to do"},
      {"1", "some images failed and the others are built; or a night was not green"},
      {"2", "wrong usage of the command line"},
      {"3", "a recipe, matrix, target, site file or DSL document is wrong or missing"},
      {"4", "no cell or image matches"},
      {"5", "a tool is missing, or this machine cannot build the requested images"},
      {"6", "a registry or the network failed"},
      {"7", "another kiln holds the lock or lease; another program moved a tag; or --locked refuses"},
      {"8", "the store is full, damaged or missing"},
      {"70", "an error in kiln itself: please report it"},
      {"124", "a time limit was reached"},
      {"130", "interrupted"}};
  return kCodes;
}

const Explanations& environment_names() {
  static const Explanations kNames = {
      {"KILN_FILE, KILN_STATE, KILN_SITE, KILN_ENGINE, KILN_RECIPES, KILN_JOBS, KILN_COLOR, KILN_PROGRESS",
       "values of --file, --state, --site, --engine, --recipes, --jobs, --color and --progress where these "
       "are not given"},
      {"KILN_NO_CACHE", "true means --no-cache"},
      {"KILN_ARCHSPEC", "archspec's microarchitectures.json, instead of the one kiln was built with"},
      {"NO_COLOR", "no colours if it is set (no-color.org)"},
      {"SOURCE_DATE_EPOCH", "the newest time that files in images may have (reproducible-builds.org)"},
      {"SINGULARITY_DIR", "the folder of SIF files that `kiln select --format sif` names"},
      {"http_proxy, https_proxy, no_proxy", "passed to builds and downloads"},
      {"REGISTRY_AUTH_FILE", "logins for registries, as skopeo and buildah read them"},
      {"XDG_CONFIG_HOME", "the folder in which kiln looks for kiln/site.json"}};
  return kNames;
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += " ";
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::string out = wrapped(app->get_description(), 0, kWidth) + ".\n\nUsage: " + usage_of(*app) + "\n";
  Explanations arguments;
  for (const CLI::Option* option : positionals_of(*app))
    arguments.emplace_back(value_label(*option), description_of(*option));
  out += rows("Arguments", arguments) + rows("Options", option_rows(*app));
  out += command_rows(*app) + examples(footer_of(*app).examples);
  if (std::string notes = footer_of(*app).notes; !notes.empty()) out += "\n" + notes + "\n";
  if (app->get_parent() != nullptr)
    return out +
           "\nOptions of every command (-C, --state, --site, --recipes, -q, ...), environment and exit "
           "codes: kiln --help\n";
  return out + rows("Exit codes", exit_codes()) + rows("Environment", environment_names(), 20);
}

}  // namespace kiln
