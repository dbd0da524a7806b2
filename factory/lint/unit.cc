#include "factory/lint/unit.h"

#include <algorithm>
#include <array>

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

}  // namespace kiln::lint
