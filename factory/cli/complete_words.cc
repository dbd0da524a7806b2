#include "factory/cli/complete_words.h"

#include <algorithm>

#include "factory/cli/options_text.h"

namespace kiln {
namespace {

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
    if (label.starts_with("FILE")) found_.paths = PathKind::files;
    if (label == "DIR") found_.paths = PathKind::folders;
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

}  // namespace

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

}  // namespace kiln
