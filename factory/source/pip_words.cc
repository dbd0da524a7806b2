#include "factory/source/pip_words.h"

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

bool is_name_byte(char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; }

// A logical line: continuation lines joined by a blank. `line` is left at its last.
std::string logical_line(const SourceFile& file, int& line) {
  std::string joined(file.line_text(line));
  while (trimmed(joined).ends_with('\\') && line < static_cast<int>(file.lines())) {
    joined = std::string(trimmed(joined));
    joined.back() = ' ';
    joined += file.line_text(++line);
  }
  if (std::size_t comment = joined.starts_with('#') ? 0 : joined.find(" #"); comment != std::string::npos)
    joined.resize(comment);
  return joined;
}

// The value of `--option value` or `--option=value`; "" for another option.
std::string option_value(std::string_view line, std::string_view option) {
  if (!line.starts_with(option)) return "";
  line.remove_prefix(option.size());
  if (line.empty() || (line.front() != '=' && line.front() != ' ')) return "";
  return std::string(trimmed(line.substr(1)));
}

}  // namespace

std::string normal_package_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    bool dash = c == '-' || c == '_' || c == '.';
    if (dash && out.ends_with('-')) continue;
    out += dash ? '-' : lower_case(c);
  }
  return out;
}

PipPackage read_pip_package(std::string_view text, Span span) {
  PipPackage out;
  out.span = span;
  text = trimmed(text);
  if (text.starts_with('-')) return out;  // an option, and may have a URL as its value
  if (contains(text, "://") && text.find('@') > text.find("://")) {
    out.url = std::string(text.substr(0, text.find(' ')));
    out.exact = true;
    return out;
  }
  if (text.empty() || !is_letter_or_digit(text.front())) return out;
  std::size_t end = 0;
  while (end < text.size() && is_name_byte(text[end])) ++end;
  std::string_view rest = text.substr(end);
  if (rest.starts_with('/') || text.substr(0, end).ends_with(".whl") || text.substr(0, end).ends_with(".txt"))
    return out;
  out.name = normal_package_name(text.substr(0, end));
  if (rest.starts_with('[')) {
    std::size_t close = std::min(rest.find(']'), rest.size());
    out.extras = std::string(rest.substr(1, close == 0 ? 0 : close - 1));
    rest.remove_prefix(std::min(close + 1, rest.size()));
  }
  rest = trimmed(rest.substr(0, rest.find(';')));
  if (rest.starts_with('@')) {
    out.url = std::string(trimmed(rest.substr(1)));
    out.url.resize(std::min(out.url.find(' '), out.url.size()));
    out.exact = true;
  } else if (rest.starts_with("==")) {
    rest.remove_prefix(rest.starts_with("===") ? 3 : 2);
    rest = trimmed(rest);
    out.version = std::string(rest.substr(0, rest.find_first_of(" ,;")));
    out.exact = !contains(out.version, '*') && !out.version.empty();
  } else if (!rest.empty() && !contains("<>!~,", rest.front())) {
    out.name.clear();  // $variable, glob or anything else that is no requirement
  }
  return out;
}

namespace {

// Of each `--hash=sha256:…`.
std::vector<std::string> hashes_in(std::string_view line) {
  constexpr std::string_view kHash = "sha256:";
  constexpr std::size_t kHex = 64;
  std::vector<std::string> hashes;
  for (std::size_t at = line.find("--hash"); at != std::string_view::npos; at = line.find("--hash", at + 1)) {
    const std::string_view rest = line.substr(std::min(at + std::string_view("--hash=").size(), line.size()));
    if (rest.starts_with(kHash)) hashes.push_back(lower_case(rest.substr(kHash.size(), kHex)));
  }
  return hashes;
}

}  // namespace

RequirementsFile read_requirements_file(const SourceFile& file) {
  RequirementsFile out;
  for (int line = 1; line <= static_cast<int>(file.lines()); ++line) {
    std::size_t start = file.start_of(line);
    std::size_t end = start + file.line_text(line).size();
    std::string text = logical_line(file, line);
    std::string_view words = trimmed(text);
    for (std::string_view option : {"--index-url", "-i", "--extra-index-url"})
      if (std::string value = option_value(words, option); !value.empty()) out.index = value;
    PipPackage one = read_pip_package(words, {start, end});
    if (one.name.empty() && one.url.empty()) continue;
    one.hashed = contains(words, "--hash=") || contains(words, "--hash ");
    one.sha256 = hashes_in(words);
    out.packages.push_back(std::move(one));
  }
  return out;
}

namespace {

// Options whose value is the next word, but for those that read_option() reads.
constexpr std::string_view kWithValue =
    "-c --constraint -t --target --prefix --root --python --platform --abi "
    "--python-version --implementation --only-binary --no-binary --progress-bar "
    "--cache-dir --src --timeout --retries --trusted-host --upgrade-strategy "
    "--root-user-action -C --config-settings -e --editable --proxy -d --dest -w "
    "--wheel-dir";
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

void read_option(PipWords& pip, const std::vector<const ShellToken*>& words, std::size_t& at) {
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
  if (is_one_of(text, kWithValue)) ++at;
}

}  // namespace

std::optional<PipWords> read_pip_words(const std::vector<const ShellToken*>& words) {
  auto verb = std::ranges::find_if(words, [](const ShellToken* word) {
    return word->text == "install" || word->text == "download" || word->text == "wheel";
  });
  if (verb == words.end()) return std::nullopt;
  PipWords pip;
  pip.verb = *verb;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == pip.verb) continue;
    if (words[at]->text.starts_with('-'))
      read_option(pip, words, at);
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
