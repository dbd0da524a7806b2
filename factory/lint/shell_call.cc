#include "factory/lint/shell_call.h"

#include <algorithm>
#include <array>

#include "factory/base/text.h"

namespace kiln::lint {
namespace {

bool is_wrapper(std::string_view program) {
  static constexpr std::array<std::string_view, 9> kWords = {"sudo", "env",   "exec",   "command", "time",
                                                             "nice", "nohup", "ionice", "eval"};
  return std::find(kWords.begin(), kWords.end(), program) != kWords.end();
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
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const ShellToken* given) { return given->text.starts_with(argument); });
}

const ShellToken* Call::find(std::string_view argument) const {
  auto found = std::find_if(arguments.begin(), arguments.end(),
                            [&](const ShellToken* given) { return given->text == argument; });
  return found == arguments.end() ? nullptr : *found;
}

const ShellToken* Call::subcommand(const std::vector<std::string_view>& with_value) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& text = arguments[i]->text;
    if (!text.starts_with('-')) return arguments[i];
    if (std::find(with_value.begin(), with_value.end(), text) != with_value.end()) ++i;
  }
  return nullptr;
}

}  // namespace kiln::lint
