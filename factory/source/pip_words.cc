#include "factory/source/pip_words.h"

#include <algorithm>
#include <array>

namespace kiln {
namespace {

// Options whose value is the next word, but for those that take_option() reads.
constexpr std::array<std::string_view, 30> kWithValue = {
    "-c",
    "--constraint",
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
    "--upgrade-strategy",
    "--root-user-action",
    "-C",
    "--config-settings",
    "-e",
    "--editable",
    "--proxy",
    "-d",
    "--dest",
    "-w",
    "--wheel-dir",
};
constexpr std::string_view kFiles[] = {"-r", "--requirement"};
constexpr std::string_view kIndexes[] = {"-i", "--index-url", "--extra-index-url", "-f", "--find-links"};

bool is_option(std::string_view text, std::string_view option) {
  return text == option || (text.starts_with(option) && text.substr(option.size()).starts_with('='));
}

// The value of an option, written behind it or behind "=". `at` is left at its last word.
std::string value_of(const std::vector<const ShellToken*>& words, std::size_t& at, std::string_view option) {
  std::string_view text = words[at]->text;
  if (text == option) return at + 1 < words.size() ? words[++at]->text : "";
  return std::string(text.substr(option.size() + 1));
}

void take_option(PipWords& pip, const std::vector<const ShellToken*>& words, std::size_t& at) {
  const std::string& text = words[at]->text;
  if (text == "--require-hashes") pip.hashes = true;
  if (text == "--no-index") pip.no_index = true;
  for (std::string_view option : kFiles)
    if (is_option(text, option)) return pip.files.push_back(value_of(words, at, option));
  for (std::string_view option : kIndexes) {
    if (!is_option(text, option)) continue;
    pip.index = value_of(words, at, option);
    return;
  }
  if (std::find(kWithValue.begin(), kWithValue.end(), text) != kWithValue.end()) ++at;
}

}  // namespace

std::optional<PipWords> read_pip_words(const std::vector<const ShellToken*>& words) {
  auto verb = std::find_if(words.begin(), words.end(), [](const ShellToken* word) {
    return word->text == "install" || word->text == "download" || word->text == "wheel";
  });
  if (verb == words.end()) return std::nullopt;
  PipWords pip;
  pip.verb = *verb;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == pip.verb) continue;
    if (words[at]->text.starts_with('-'))
      take_option(pip, words, at);
    else
      pip.operands.push_back(words[at]);
  }
  return pip;
}

bool is_pip(std::string_view program) {
  return program.starts_with("pip") &&
         program.find_first_not_of("0123456789.", std::string_view("pip").size()) == std::string_view::npos;
}

}  // namespace kiln
