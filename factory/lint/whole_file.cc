#include <algorithm>

#include "factory/base/text.h"
#include "factory/lint/checks.h"

namespace kiln::lint {
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
