// kiln completion: what makes bash, zsh and fish ask `kiln __complete` what may stand at the cursor.

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/options_text.h"
#include "factory/cli/print.h"

namespace kiln {
namespace {

struct Completion {
  const char* paths = "none";  // or files, folders: the shell completes these itself
  std::vector<std::pair<std::string, std::string>> words;  // word, description or ""
};

// Values that depend on files. `label` is the option's (CELL, IMAGE, WORKLOAD), `given` the options
// of the line so far by long name, their last values. A word must start with `current` to be taken.
using DynamicValues = std::function<std::vector<std::pair<std::string, std::string>>(
    const std::string& label, const std::map<std::string, std::string>& given, const std::string& current)>;

// Reads the words before the cursor as the parser would, without complaining.
class Line {
 public:
  explicit Line(const CLI::App& app) : command_(&app) {}

  void read(const std::string& word) {
    if (pending_ != nullptr) {
      give(*pending_, word);
      pending_ = nullptr;
    } else if (only_arguments_ || word.empty() || word.front() != '-' || word == "-") {
      read_argument(word);
    } else if (word == "--") {
      only_arguments_ = true;
    } else {
      read_option(word);
    }
  }

  const CLI::App& command() const { return *command_; }
  const CLI::Option* pending() const { return pending_; }
  bool only_arguments() const { return only_arguments_; }
  const std::map<std::string, std::string>& given() const { return given_; }
  const std::vector<std::string>& arguments() const { return arguments_; }

  const CLI::Option* find(const std::string& name) const {
    for (const CLI::App* app = command_; app != nullptr; app = app->get_parent())
      if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
    return nullptr;
  }

  // The argument that the cursor stands on.
  const CLI::Option* next_argument() const {
    auto positionals = positionals_of(*command_);
    if (arguments_.size() < positionals.size()) return positionals[arguments_.size()];
    return !positionals.empty() && takes_many(*positionals.back()) ? positionals.back() : nullptr;
  }

 private:
  void read_argument(const std::string& word) {
    for (const CLI::App* sub : subcommands_of(*command_)) {
      if (only_arguments_ || sub->get_name() != word) continue;
      command_ = sub;
      arguments_.clear();
      return;
    }
    arguments_.push_back(word);
  }

  void read_option(const std::string& word) {
    bool is_long = word.starts_with("--");
    std::size_t equals = word.find('=');
    std::string name = is_long ? word.substr(0, equals) : word.substr(0, 2);
    const CLI::Option* option = find(name);
    if (option == nullptr) return;
    if (!takes_value(*option))
      give(*option, "");
    else if (is_long && equals != std::string::npos)
      give(*option, word.substr(equals + 1));
    else if (!is_long && word.size() > 2)
      give(*option, word.substr(2));
    else
      pending_ = option;
  }

  void give(const CLI::Option& option, const std::string& value) {
    if (!option.get_lnames().empty()) given_[option.get_lnames().front()] = value;
  }

  const CLI::App* command_;
  const CLI::Option* pending_ = nullptr;
  bool only_arguments_ = false;
  std::vector<std::string> arguments_;
  std::map<std::string, std::string> given_;
};

class Search {
 public:
  Search(const Line& line, std::string current, const DynamicValues& dynamic)
      : line_(line), current_(std::move(current)), dynamic_(dynamic) {}

  Completion take() { return std::move(found_); }

  void values_of(const CLI::Option& option, const std::string& prefix = "") {
    std::string part = current_.substr(prefix.size());
    for (const std::string& choice : choices_of(option))
      if (choice.starts_with(part)) found_.words.emplace_back(prefix + choice, "");
    std::string label = value_label(option);
    if (label.starts_with("FILE")) found_.paths = "files";
    if (label == "DIR") found_.paths = "folders";
    if (label == "COMMAND") commands_after(line_.arguments());
    for (auto& [word, text] : dynamic_(label, line_.given(), part))
      if (word.starts_with(part)) found_.words.emplace_back(prefix + word, text);
  }

  void commands_of(const CLI::App& command) {
    for (const CLI::App* sub : subcommands_of(command))
      if (sub->get_name().starts_with(current_))
        found_.words.emplace_back(sub->get_name(), sub->get_description());
  }

  void options() {
    for (const CLI::App* app = &line_.command(); app != nullptr; app = app->get_parent()) {
      for (const CLI::Option* option : options_of(*app)) {
        if (option->get_lnames().empty()) continue;
        const std::string& name = option->get_lnames().front();
        bool again = !takes_many(*option) &&
                     option->get_multi_option_policy() != CLI::MultiOptionPolicy::TakeAll &&
                     line_.given().contains(name);
        std::string word = "--" + name;
        bool inherited = app != &line_.command() && (name == "help" || name == "version");
        if (!again && !inherited && word.starts_with(current_))
          found_.words.emplace_back(word, option->get_description());
      }
    }
  }

 private:
  // For an argument that names commands: `kiln man index list`.
  void commands_after(const std::vector<std::string>& words) {
    const CLI::App* command = &line_.command();
    while (command->get_parent() != nullptr) command = command->get_parent();
    for (const std::string& word : words) {
      const CLI::App* next = nullptr;
      for (const CLI::App* sub : subcommands_of(*command))
        if (sub->get_name() == word) next = sub;
      if (next == nullptr) return;
      command = next;
    }
    commands_of(*command);
  }

  const Line& line_;
  std::string current_;
  const DynamicValues& dynamic_;
  Completion found_;
};

// `before`: the words between `kiln` and the one at the cursor, which is `current` (may be empty). For
// `--name=value` the words have the prefix `--name=`.
Completion complete_words(const CLI::App& app, const std::vector<std::string>& before,
                          const std::string& current, const DynamicValues& dynamic) {
  Line line(app);
  for (const std::string& word : before) line.read(word);
  Search search(line, current, dynamic);
  std::size_t equals = current.find('=');
  if (line.pending() != nullptr) {
    search.values_of(*line.pending());
  } else if (!line.only_arguments() && current.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = line.find(current.substr(0, equals));
    if (option != nullptr && takes_value(*option)) search.values_of(*option, current.substr(0, equals + 1));
  } else if (!line.only_arguments() && current.starts_with('-')) {
    search.options();
  } else {
    search.commands_of(line.command());
    if (const CLI::Option* argument = line.next_argument()) search.values_of(*argument);
  }
  return search.take();
}

using Words = std::vector<std::pair<std::string, std::string>>;
using Given = std::map<std::string, std::string>;

std::string given_or(const Given& given, const std::string& name, const std::string& variable,
                     const Invocation& invocation) {
  if (auto found = given.find(name); found != given.end()) return found->second;
  return value_or(invocation.environment, variable);
}

// Ids, and `axis=` of every axis; once there is an `axis=`, its values.
Words cells(const Given& given, const std::string& current, Invocation& invocation) {
  std::string file = given_or(given, "file", "KILN_FILE", invocation);
  if (file.empty()) return {};
  const BuildPlan plan = invocation.load(file).plan;
  std::size_t equals = current.find('=');
  std::set<std::string> axes;
  Words words;
  for (std::size_t number = 0; number < plan.size(); ++number) {
    const ImageRequest request = plan.image(number).request();
    if (equals == std::string::npos) words.emplace_back(request.id, plan.image(number).reference());
    for (const auto& [axis, value] : request.axes) {
      if (equals == std::string::npos)
        axes.insert(axis + "=");
      else if (axis == current.substr(0, equals))
        axes.insert(axis + "=" + value);
    }
  }
  for (const std::string& axis : axes) words.emplace_back(axis, "");
  return words;
}

Words workloads(const Given& given, Invocation& invocation) {
  std::string file = given_or(given, "file", "KILN_FILE", invocation);
  Words words;
  if (file.empty()) return words;
  for (const std::string& name : invocation.load(file).recipes.names(Kind::workload))
    words.emplace_back(name, "");
  return words;
}

Words images(Invocation& invocation) {
  Words words;
  if (!invocation.has_index()) return words;
  for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
    words.emplace_back(entry.image.name(), entry.image.cpu);
  return words;
}

Words applications(Invocation& invocation) {
  Words words;
  if (!invocation.has_index()) return words;
  for (const auto& [name, images] : invocation.index(Index::Mode::read).applications({}))
    words.emplace_back(name, "");
  return words;
}

Words dynamic_values(const std::string& label, const Given& given, const std::string& current,
                     Invocation& invocation) {
  return unless_error([&]() -> Words {
    if (label == "CELL") return cells(given, current, invocation);
    if (label == "WORKLOAD") return workloads(given, invocation);
    if (label == "IMAGE") return images(invocation);
    if (label == "APPLICATION") return applications(invocation);
    return {};
  });
}

// The options that say where files are, as far as the line has them.
void apply(const Given& given, GlobalOptions& options) {
  options.quiet = true;
  if (auto found = given.find("directory"); found != given.end()) {
    std::error_code ignored;
    fs::current_path(found->second, ignored);
  }
  if (auto found = given.find("state"); found != given.end()) options.state = found->second;
  if (auto found = given.find("recipes"); found != given.end()) options.recipes = {found->second};
}

// A line is a word, a tab and a description: neither may hold a tab or a line break.
std::string flat(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

}  // namespace

void print_completions(const CLI::App& app, std::vector<std::string> words, Invocation& invocation) {
  std::string current = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  if (auto state = invocation.environment.find("KILN_STATE"); state != invocation.environment.end())
    invocation.options.state = state->second;
  bool applied = false;
  Completion found = complete_words(
      app, words, current, [&](const std::string& label, const Given& given, const std::string& part) {
        if (!applied) apply(given, invocation.options);
        applied = true;
        return dynamic_values(label, given, part, invocation);
      });
  say("{}\n", found.paths);
  for (const auto& [word, text] : found.words) say("{}\t{}\n", flat(word), flat(text));
}

// The scripts are templates/completion.*. bash splits words at = and : too, which patterns, tags and
// `--name=value` hold: its script joins them again where no blank is between them, and cuts what bash takes
// for an earlier word off the answers.
CLI::App* add_completion(CLI::App& app, Invocation&) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = add_below(
      app, "completion", "Print the completion of a shell",
      "source <(kiln completion bash)\nkiln completion fish > ~/.config/fish/completions/kiln.fish");
  add_choice(*command, "shell", *shell, {"bash", "zsh", "fish"}, "bash, zsh or fish")->required();
  command->callback([shell] { print_bytes(embedded_templates().at("completion." + *shell)); });
  return command;
}

}  // namespace kiln
