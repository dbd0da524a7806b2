#include "factory/lint/unit.h"

#include <algorithm>
#include <array>

#include "factory/lint/checks.h"

namespace kiln::lint {
namespace {

bool is_wrapper(std::string_view program) {
  return is_one_of(program, "sudo env exec command time nice nohup ionice eval");
}

bool is_python(std::string_view program) {
  return program.starts_with("python") &&
         program.find_first_not_of("0123456789.", std::string_view("python").size()) ==
             std::string_view::npos;
}

}  // namespace

Call call_of(const ShellCommand& command) {
  Call call;
  std::size_t at = 0;
  const auto& words = command.words;
  bool wrapped = false;
  for (; at < words.size(); ++at) {
    if (!assigned_name(words[at].text).empty()) continue;
    if (wrapped && words[at].text.starts_with('-')) continue;  // an option of the wrapper
    std::string program(last_part(words[at].text));
    if (!is_wrapper(program)) break;
    call.sudo |= program == "sudo";
    wrapped = true;
  }
  if (at == words.size()) return call;
  call.word = &words[at];
  call.program = last_part(words[at].text);
  ++at;
  if (is_python(call.program) && at + 1 < words.size() && words[at].text == "-m" &&
      words[at + 1].text == "pip") {
    call.program = "pip";
    at += 2;
  }
  for (; at < words.size(); ++at) call.arguments.push_back(&words[at]);
  return call;
}

bool Call::has(std::string_view argument) const { return find(argument) != nullptr; }

bool Call::has_prefix(std::string_view argument) const {
  return std::ranges::any_of(arguments,
                             [&](const ShellToken* given) { return given->text.starts_with(argument); });
}

const ShellToken* Call::find(std::string_view argument) const {
  auto found =
      std::ranges::find_if(arguments, [&](const ShellToken* given) { return given->text == argument; });
  return found == arguments.end() ? nullptr : *found;
}

const ShellToken* Call::subcommand(const std::vector<std::string_view>& with_value) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& text = arguments[i]->text;
    if (!text.starts_with('-')) return arguments[i];
    if (contains(with_value, text)) ++i;
  }
  return nullptr;
}

bool in_recipe(ScriptRole place) {
  return place == ScriptRole::recipe || place == ScriptRole::build || place == ScriptRole::test ||
         place == ScriptRole::host;
}

bool stays(ScriptRole place) {
  return place == ScriptRole::recipe || place == ScriptRole::run || place == ScriptRole::post;
}

std::optional<PipCall> pip_call(const ShellCommand& command) {
  PipCall pip;
  pip.call = call_of(command);
  auto& words = pip.call.arguments;
  if (pip.call.program == "uv" && !words.empty() && words.front()->text == "pip")
    words.erase(words.begin());
  else if (!is_pip(pip.call.program))
    return std::nullopt;
  auto read = read_pip_words(words);
  if (!read) return std::nullopt;
  pip.words = std::move(*read);
  for (const ShellToken* word : pip.words.operands)
    if (PipPackage one = read_pip_package(word->text, word->span); !one.name.empty() || !one.url.empty())
      pip.packages.push_back(std::move(one));
  return pip;
}

bool wrapped_with(const ScriptUnit& unit, std::string_view option) {
  if (!contains(unit.shell.functions, "pip")) return false;
  return std::ranges::any_of(unit.shell.commands, [&](const ShellCommand& command) {
    const Call call = call_of(command);
    return call.program == "pip" && call.has("$@") && call.has(option);
  });
}

namespace {

constexpr std::array<std::string_view, 5> kWithValue = {"-o", "-t", "-c", "--option", "--target-release"};

}  // namespace

std::vector<const ShellToken*> AptCall::packages() const {
  std::vector<const ShellToken*> all;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const ShellToken* word = call.arguments[i];
    if (contains(kWithValue, word->text))
      ++i;
    else if (word != verb && !word->text.starts_with('-'))
      all.push_back(word);
  }
  return all;
}

std::vector<AptCall> apt_calls(const ScriptUnit& unit) {
  std::vector<AptCall> calls;
  for (const ShellCommand& command : unit.shell.commands) {
    Call call = call_of(command);
    if (!is_one_of(call.program, "apt-get apt aptitude")) continue;
    const ShellToken* verb = call.subcommand({kWithValue.begin(), kWithValue.end()});
    if (verb != nullptr) calls.push_back({&command, call, verb});
  }
  return calls;
}

namespace {

bool makes_the_image(ScriptRole place) {
  return place != ScriptRole::environment && place != ScriptRole::test && place != ScriptRole::other;
}

bool is_name_byte(char c) { return is_letter_or_digit(c) || c == '_'; }

}  // namespace

std::vector<PlacedCommand> WholeFile::commands() const {
  std::vector<PlacedCommand> all;
  for (const FileStage& stage : stages)
    for (const ScriptUnit& unit : stage.units)
      for (const ShellCommand& command : unit.shell.commands)
        if (makes_the_image(unit.place)) all.push_back({&unit, &command});
  return all;
}

std::vector<std::pair<PlacedCommand, PipCall>> WholeFile::pip_calls() const {
  std::vector<std::pair<PlacedCommand, PipCall>> all;
  for (const PlacedCommand& one : commands())
    if (auto pip = pip_call(*one.command)) all.emplace_back(one, std::move(*pip));
  return all;
}

std::string WholeFile::expanded(std::string_view text) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t name = at + 1;
    const bool braces = text[at] == '$' && name < text.size() && text[name] == '{';
    if (braces) ++name;
    std::size_t end = name;
    while (text[at] == '$' && end < text.size() && is_name_byte(text[end])) ++end;
    if (end <= name || (braces && (end == text.size() || text[end] != '}'))) {
      out += text[at++];
      continue;
    }
    const std::string_view wanted = text.substr(name, end - name);
    const Setting* first = nullptr;
    bool one = true;
    for (const Setting& setting : settings) {
      if (setting.name != wanted || setting.value.empty()) continue;
      one = one && (first == nullptr || first->value == setting.value);
      if (first == nullptr) first = &setting;
    }
    if (braces) ++end;
    const bool known = first != nullptr && one && !contains(first->value, '$');
    out += known ? first->value : std::string(text.substr(at, end - at));
    at = end;
  }
  return out;
}

void WholeFile::add_shell_settings() {
  for (const PlacedCommand& one : commands())
    for (const ShellToken& word : one.command->words)
      if (const std::string_view name = assigned_name(word.text); !name.empty())
        settings.push_back({std::string(name), word.text.substr(word.text.find('=') + 1), word.span});
  std::ranges::stable_sort(settings, {}, [](const Setting& one) { return one.span.begin; });
}

std::string version_at(std::string_view text) {
  std::size_t end = 0;
  int dots = 0;
  while (end < text.size() && (is_digit(text[end]) || (text[end] == '.' && end > 0 && end + 1 < text.size() &&
                                                       is_digit(text[end - 1]) && is_digit(text[end + 1]))))
    dots += text[end++] == '.' ? 1 : 0;
  return dots > 0 && end < 32 ? std::string(text.substr(0, end)) : "";
}

bool has_whole_word(std::string_view text, std::string_view word) {
  const std::string lower = lower_case(text);
  for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter_or_digit(lower[at - 1])) &&
        (end == lower.size() || !is_letter_or_digit(lower[end])))
      return true;
  }
  return false;
}

void check_whole(const WholeFile& whole, Report& report) {
  check_cpu_image(whole, report);
  check_protobuf(whole, report);
  check_fork_commits(whole, report);
  check_indexes(whole, report);
  check_bazel(whole, report);
  check_glow(whole, report);
  check_time_zone(whole, report);
}

}  // namespace kiln::lint
