// What a script installs, fetches and sets, as far as its commands show.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "factory/base/text.h"
#include "factory/import/legacy_image.h"
#include "factory/import/legacy_pins.h"
#include "factory/recipe/native_flag.h"
#include "factory/source/pip_words.h"

namespace kiln {
namespace {

using Words = std::vector<ShellToken>;

bool is_url(const std::string& word) {
  return word.starts_with("http://") || word.starts_with("https://") || word.starts_with("ftp://");
}

bool is_commit(const std::string& text) { return text.size() == 40 && is_hex(text); }

// Without extras, which conda writes as pip does.
std::string package_name(std::string_view word) {
  return normal_package_name(word.substr(0, word.find('[')));
}

// Options of package tools other than pip, of git and of wget whose value is the next word.
bool takes_value(const std::string& option) {
  return is_one_of(option,
                   "-r -c -n --name -p --prefix --channel -f --file -t --root -o -b -j --jobs -O "
                   "--output --option -P --branch --depth --directory-prefix --timeout --retries");
}

using Tokens = std::vector<const ShellToken*>;

// The words after `at` that are no options.
Tokens operands(const Words& words, std::size_t at) {
  Tokens found;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at].text;
    if (takes_value(word)) {
      ++at;
    } else if (!word.starts_with('-') || word == "-") {
      found.push_back(&words[at]);
    }
  }
  return found;
}

}  // namespace

void FactReader::script(std::string_view text, std::function<int(std::size_t)> line_of) {
  line_of_ = std::move(line_of);
  for (const ShellCommand& one : read_shell(text).commands) command(one);
}

// Makes a word literal whose variables are all known. Another is what is written, its quotes included.
void FactReader::fill_in(ShellToken& word) const {
  if (word.literal) return;
  word.text = word.raw;
  if (contains(word.raw, "$(") || contains(word.raw, '`')) return;
  bool known = true;
  auto lookup = [&](std::string_view name) -> std::optional<std::string> {
    auto found = variables.find(std::string(name));
    known = known && found != variables.end();
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  try {
    std::string text = expand_docker_word(word.raw, lookup, '\\', image_.path, {});
    if (!known) return;
    word.text = std::move(text);
    word.literal = true;
  } catch (const Error&) {
    return;  // a form of ${} that only a shell knows
  }
}

// Without `sudo`, `env A=b`, `A=b` and the like in front.
void FactReader::command(const ShellCommand& command) {
  Words words = command.words;
  std::size_t skipped = 0;
  for (ShellToken& word : words) fill_in(word);
  while (!words.empty()) {
    const std::string& first = words[0].raw;
    bool assignment = !assigned_name(first).empty();
    if (assignment) set(words, 0);
    if (!assignment && !is_one_of(first, "sudo env exec time nohup -E")) break;
    words.erase(words.begin());
    ++skipped;
  }
  if (words.empty()) return;
  const ShellToken& program = words[0].literal ? words[0] : command.words[skipped];  // without quotes
  run(std::string(last_part(program.text)), std::move(words));
}

void FactReader::run(std::string tool, Words words) {
  options(words);
  if (tool == "uv" && words.size() > 1 && words[1].text == "pip") {
    words.erase(words.begin());
    tool = "pip";
  }
  if (tool.starts_with("python") && words.size() > 2 && words[1].text == "-m" &&
      words[2].text.starts_with("pip")) {
    words.erase(words.begin(), words.begin() + 2);
    tool = "pip";
  }
  auto has = [&](std::string_view word) {
    return std::ranges::any_of(words, [&](const ShellToken& token) { return token.text == word; });
  };
  if (tool == "export") return set(words, 1);
  if (is_pip(tool)) return pip(words);
  if ((tool == "apt-get" || tool == "apt" || tool == "yum" || tool == "dnf" || tool == "microdnf") &&
      has("install"))
    return system_packages(words, 1);
  if ((tool == "conda" || tool == "mamba" || tool == "micromamba") && has("install")) return conda(words, 1);
  if (tool == "git" && has("clone")) return clone(words);
  if (tool == "git" && has("checkout")) return checkout(words);
  if (tool == "wget" || tool == "curl") return download(words);
  if (tool.ends_with("sum") && (tool.starts_with("sha") || tool.starts_with("md5"))) checks_sums_ = true;
}

// What a requirements file pins that the image copies from the folder.
void FactReader::requirements(const std::string& path, int line) {
  for (const auto& [file, bytes] : image_.files) {
    if (last_part(file) != last_part(path)) continue;
    for (const PipPackage& one : read_requirements_file(SourceFile(file, bytes)).packages)
      if (!one.version.empty()) image_.facts.pip.emplace(one.name, Said{"==" + one.version, line});
    return;
  }
}

// `git+https://host/name.git@v1.2`.
void FactReader::pip_clone(const ShellToken& token) {
  std::string url = token.text.substr(token.text.find("git+") + 4);
  const std::size_t sign = url.rfind('@');
  std::string reference;
  if (sign != std::string::npos && url.find('/', sign) == std::string::npos) {
    reference = url.substr(sign + 1, url.find('#', sign) - sign - 1);
    url.resize(sign);
  }
  image_.facts.clones[url] = {reference, line(token)};
}

void FactReader::pip(const Words& words) {
  Tokens behind;
  for (std::size_t i = 1; i < words.size(); ++i) behind.push_back(&words[i]);
  auto pip = read_pip_words(behind);
  if (!pip) return;
  for (const std::string& file : pip->files) requirements(file, line(words[0]));
  for (const ShellToken* token : pip->operands) {
    const std::string& word = token->text;
    wheel(*token);
    if (word.starts_with("git+")) {
      pip_clone(*token);
      continue;
    }
    if (is_url(word)) {
      image_.facts.downloads[word] = {"", line(*token)};
      continue;
    }
    if (word.ends_with(".whl") && word.find_first_of("*?") == std::string::npos && contains(word, '/'))
      image_.note(line(*token), "wheel-name",
                  fmt::format("the wheel's name is written by hand: {}", last_part(word)));
    if (contains(word, '/') || word.starts_with('.') || !token->literal) continue;
    std::size_t end = word.find_first_of("=<>!~;");
    std::string name = package_name(word.substr(0, end));
    std::string version = end == std::string::npos ? "" : word.substr(end);
    image_.facts.pip[name] = {version, line(*token)};
    if (version.empty() && !is_one_of(name, "pip setuptools wheel six virtualenv"))
      image_.note(line(*token), "unpinned",
                  fmt::format("'{}' has no version: pip installs the newest one", name));
  }
}

// NAME-VERSION-….whl, as PEP 427 has it.
void FactReader::wheel(const ShellToken& token) {
  const std::string_view file = last_part(token.text);
  const std::size_t name = file.find('-');
  const std::size_t version = name == std::string_view::npos ? name : file.find('-', name + 1);
  if (!file.ends_with(".whl") || version == std::string_view::npos || file.find_first_of("*?$") < version)
    return;
  image_.facts.wheels[package_name(file.substr(0, name))] = {
      std::string(file.substr(name + 1, version - name - 1)), line(token)};
}

void FactReader::system_packages(const Words& words, std::size_t at) {
  for (const ShellToken* token : operands(words, at)) {
    const std::string& word = token->text;
    if (word == "install" || !token->literal || contains(word, '/')) continue;
    std::size_t end = word.find('=');
    image_.facts.packages[word.substr(0, end)] = {end == std::string::npos ? "" : word.substr(end),
                                                  line(*token)};
  }
}

void FactReader::conda(const Words& words, std::size_t at) {
  for (const ShellToken* token : operands(words, at)) {
    const std::string& word = token->text;
    if (word == "install" || !token->literal) continue;
    std::size_t end = word.find_first_of("=<>");
    std::string version = end == std::string::npos ? "" : word.substr(word.find_first_not_of('=', end));
    image_.facts.conda[package_name(word.substr(0, end))] = {version, line(*token)};
  }
}

void FactReader::clone(const Words& words) {
  std::string reference;
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i].text == "-b" || words[i].text == "--branch") reference = words[i + 1].text;
  for (const ShellToken* token : operands(words, 1)) {
    if (token->text == "clone") continue;
    last_clone_ = token->text;
    image_.facts.clones[last_clone_] = {reference, line(*token)};
    return;
  }
}

void FactReader::checkout(const Words& words) {
  if (last_clone_.empty()) return;
  for (const ShellToken* token : operands(words, 1)) {
    if (token->text == "checkout") continue;
    image_.facts.clones[last_clone_] = {token->text, line(*token)};
    return;
  }
}

void FactReader::download(const Words& words) {
  for (const ShellToken& token : words)
    if (is_url(token.text)) image_.facts.downloads[token.text] = {"", line(token)};
}

void FactReader::set(const Words& words, std::size_t at) {
  for (std::size_t i = at; i < words.size() && (at > 0 || i == 0); ++i) {
    std::size_t equals = words[i].text.find('=');
    if (equals == std::string::npos || equals == 0 || !words[i].literal) continue;
    std::string name = words[i].text.substr(0, equals);
    variables[name] = words[i].text.substr(equals + 1);
    image_.facts.settings[name] = {variables[name], line(words[i])};
  }
}

void FactReader::options(const Words& words) {
  for (const ShellToken& token : words) {
    const std::string& word = token.text;
    if (!native_flag(word).empty())
      image_.note(line(token), "march-native", fmt::format("'{}' builds for the machine that builds", word));
    if (is_tuning(word)) image_.facts.tuning[word] = {"", line(token)};
    bool option = word.starts_with("--copt=") || word.starts_with("--config=") || word.starts_with("-D") ||
                  word.starts_with("-march=");
    if (!option || !token.literal) continue;
    std::size_t equals = word.starts_with("-D") ? word.find('=') : std::string::npos;
    image_.facts.options[word.substr(0, equals)] = {
        equals == std::string::npos ? "" : word.substr(equals + 1), line(token)};
  }
}

void FactReader::finish() {
  for (const auto& [url, reference] : image_.facts.clones) {
    if (is_commit(reference.value)) continue;
    image_.note(reference.line, "unpinned-clone",
                reference.value.empty() ? fmt::format("{} is cloned as it is that day", url)
                                        : fmt::format("{} is cloned at '{}', which can move: name the commit",
                                                      url, reference.value));
  }
  for (const auto& [url, said] : image_.facts.downloads)
    if (!checks_sums_ && said.value.empty())
      image_.note(said.line, "no-checksum", fmt::format("{} is downloaded without a checksum", url));
}

}  // namespace kiln
