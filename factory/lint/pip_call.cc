#include "lint/pip_call.h"

#include <algorithm>
#include <array>

namespace kiln::lint {
namespace {

bool takes_value(std::string_view option) {
  static constexpr std::array<std::string_view, 27> kOptions = {"-r",
                                                                "--requirement",
                                                                "-c",
                                                                "--constraint",
                                                                "-i",
                                                                "--index-url",
                                                                "--extra-index-url",
                                                                "-f",
                                                                "--find-links",
                                                                "-t",
                                                                "--target",
                                                                "--prefix",
                                                                "--root",
                                                                "--python",
                                                                "--platform",
                                                                "--abi",
                                                                "--python-version",
                                                                "--implementation",
                                                                "--only-binary",
                                                                "--no-binary",
                                                                "--progress-bar",
                                                                "--cache-dir",
                                                                "--src",
                                                                "--timeout",
                                                                "--retries",
                                                                "--trusted-host",
                                                                "--upgrade-strategy"};
  return std::find(kOptions.begin(), kOptions.end(), option) != kOptions.end() ||
         option == "--root-user-action" || option == "-C" || option == "--config-settings" ||
         option == "-e" || option == "--editable" || option == "--proxy";
}

bool is_pip(std::string_view program) {
  return program == "pip" || program == "pip2" || program == "pip3" || program.starts_with("pip3.");
}

// The value of an option, written behind it or behind "=".
std::string value_of(const std::vector<const ShellWord*>& words, std::size_t& at, std::string_view option) {
  std::string_view text = words[at]->text;
  if (text == option) return at + 1 < words.size() ? words[++at]->text : "";
  return std::string(text.substr(option.size() + 1));
}

bool is_option(std::string_view text, std::string_view option) {
  return text == option ||
         (text.starts_with(option) && text.size() > option.size() && text[option.size()] == '=');
}

void take_option(PipCall& pip, const std::vector<const ShellWord*>& words, std::size_t& at) {
  const std::string& text = words[at]->text;
  if (text == "--require-hashes") pip.hashes = true;
  if (text == "--no-index") pip.no_index = true;
  for (std::string_view option : {"-r", "--requirement"})
    if (is_option(text, option)) return pip.files.push_back(value_of(words, at, option));
  for (std::string_view option : {"-i", "--index-url", "--extra-index-url", "-f", "--find-links"}) {
    if (!is_option(text, option)) continue;
    pip.index = value_of(words, at, option);
    return;
  }
  if (takes_value(text)) ++at;
}

}  // namespace

std::optional<PipCall> pip_call(const ShellCommand& command) {
  PipCall pip;
  pip.call = call_of(command);
  auto& words = pip.call.arguments;
  if (pip.call.program == "uv" && !words.empty() && words.front()->text == "pip")
    words.erase(words.begin());
  else if (!is_pip(pip.call.program))
    return std::nullopt;
  auto install = std::find_if(words.begin(), words.end(), [](const ShellWord* word) {
    return word->text == "install" || word->text == "download" || word->text == "wheel";
  });
  if (install == words.end()) return std::nullopt;
  pip.install = *install;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == pip.install) continue;
    if (words[at]->text.starts_with('-')) {
      take_option(pip, words, at);
    } else if (Requirement one = read_requirement(words[at]->text, words[at]->span);
               !one.name.empty() || !one.url.empty()) {
      pip.packages.push_back(std::move(one));
    }
  }
  return pip;
}

bool wrapped_with(const ScriptUnit& unit, std::string_view option) {
  const auto& names = unit.shell.functions;
  if (std::find(names.begin(), names.end(), "pip") == names.end()) return false;
  return std::any_of(unit.shell.commands.begin(), unit.shell.commands.end(),
                     [&](const ShellCommand& command) {
                       const Call call = call_of(command);
                       return call.program == "pip" && call.has("$@") && call.has(option);
                     });
}

}  // namespace kiln::lint
