// The definitions of a folder, and the local files that they copy.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/import/legacy_image.h"
#include "factory/import/legacy_names.h"
#include "factory/recipe/native_flag.h"
#include "factory/recipe/parameters.h"
#include "factory/source/secret_words.h"
#include "factory/source/source_file.h"

namespace kiln {
namespace {

constexpr int kMaxFolders = 64;  // one in the other
constexpr std::size_t kMaxLocalBytes = 16u << 20;

bool is_program(const fs::path& path) {
  std::error_code none;
  return (fs::status(path, none).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

// Through a link, to what lies outside of the imported folder.
bool leads_out(const fs::path& root, const fs::path& path) {
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  if (failed) return false;
  const fs::path top = fs::canonical(root, failed);
  return !failed && std::mismatch(top.begin(), top.end(), real.begin(), real.end()).first != top.end();
}

// Links to folders are not followed: they lead in circles, to what is found anyway, or out.
void find_in(LegacyTree& tree, const fs::path& folder, int depth) {
  if (depth > kMaxFolders) return;
  std::vector<std::string> names;
  try {
    names = tree.files.list(tree.root / folder);
  } catch (const Error& error) {
    if (depth == 0) throw;
    tree.unreadable[folder.string()] = error.message();
  }
  for (const std::string& name : names) {
    if (name.starts_with('.')) continue;
    const fs::path path = folder / name;
    const fs::path there = tree.root / path;
    if (tree.files.is_directory(there)) {
      if (!is_link(there)) find_in(tree, path, depth + 1);
    } else if (is_dockerfile_name(name) || is_definition_name(name)) {
      tree.paths.push_back(path.string());
    }
  }
}

std::string secret_text(const std::string& what) {
  return fmt::format("{}: {} is written in its place", what, kRedacted);
}

// Secrets of a text file that is copied; another one is left as it is.
std::string without_secrets(LegacyImage& image, const fs::path& from, std::string bytes, int line) {
  if (first_not_utf8(bytes) != std::string::npos) return bytes;
  std::vector<RedactedSecret> secrets;
  const std::string name = from.filename().string();
  const bool assigns = name.ends_with(".sh") || name.starts_with(".env") || name.ends_with(".env");
  bytes = assigns ? redacted(bytes, secrets) : redacted_tokens(bytes, secrets);
  for (const RedactedSecret& one : secrets)
    image.note(line, "secret", fmt::format("'{}', line {}: {}", name, one.line, secret_text(one.what)));
  return bytes;
}

// Below what is copied itself (`nested`), links to folders are not followed.
bool copy_one(const LegacyTree& tree, LegacyImage& image, const fs::path& from, const std::string& to,
              int line, bool nested = false) {
  if (!is_recipe_path(to)) {
    image.note(line, "local-file", fmt::format("'{}' is not a name that a recipe's file may have", to));
    return false;
  }
  const bool folder = tree.files.is_directory(from);
  if (leads_out(tree.root, from) || (nested && folder && is_link(from))) {
    image.note(line, "local-file",
               fmt::format("'{}' is a link to {}: it is not followed", from.filename().string(),
                           folder ? "a folder" : "a file outside of this folder"));
    return false;
  }
  if (folder) {
    bool all = true;
    for (const std::string& name : tree.files.list(from))
      all = copy_one(tree, image, from / name, to + "/" + name, line, true) && all;
    return all;
  }
  try {
    auto bytes = tree.files.read(from, kMaxLocalBytes);
    if (bytes) image.files[to] = without_secrets(image, from, std::move(*bytes), line);
    if (is_program(from)) image.programs.insert(to);
    if (!bytes) image.note(line, "local-file", fmt::format("'{}' is not there", from.filename().string()));
    return bytes.has_value();
  } catch (const Error& error) {
    image.note(line, "local-file",
               fmt::format("'{}' is not taken: {}", from.filename().string(), error.message()));
    return false;
  }
}

}  // namespace

bool is_recipe_path(std::string_view path) {
  if (contains(path, "//")) return false;
  for (const fs::path& part : fs::path(path)) {
    std::string name = part.string();
    bool plain =
        !name.empty() && name != "." && name != ".." && name[0] != '-' &&
        std::ranges::all_of(name, [](char c) { return is_letter_or_digit(c) || contains("_.+-@", c); });
    if (!plain) return false;
  }
  return !path.empty();
}

void LegacyImage::set_environment(const std::string& name, const std::string& value, int line) {
  facts.settings[name] = {value, line};
  if (name == "DEBIAN_FRONTEND")
    return note(line, "build-environment",
                "DEBIAN_FRONTEND: kiln sets it while it builds, and not in the image");
  if (contains(value, kRedacted)) return;  // noted where it was taken out
  bool one_line = std::ranges::none_of(value, is_control);
  if (!one_line)
    return note(line, "environment", fmt::format("the value of {} is no single line of text", name));
  std::string native = native_flag(value);
  if (native.empty()) native = native_flag(name + "=" + value);
  if (value == "native" && (is_gpu_variable(name) || is_compiler_variable(name))) native = value;
  if (!native.empty())
    return note(
        line, "march-native",
        fmt::format("{}: '{}' builds for the machine that builds, and is left out of the image's environment",
                    name, native));
  environment[name] = {value, line};
}

LegacyTree find_definitions(const FileSystem& files, const fs::path& root) {
  LegacyTree tree{files, root, {}, {}, {}};
  find_in(tree, "", 0);
  std::ranges::sort(tree.paths);
  std::set<std::string> taken;
  std::map<std::string, int> numbers;
  for (const std::string& path : tree.paths) {
    const std::string stem = component_name(stem_of(path));
    std::string folder = stem;
    for (int& number = numbers[stem]; !taken.insert(folder).second;)
      folder = fmt::format("{}-{}", stem, number = std::max(number, 1) + 1);
    tree.file_folders[path] = folder;
  }
  return tree;
}

std::string read_definition_text(const LegacyTree& tree, const std::string& path,
                                 std::vector<ImportNote>* notes) {
  if (leads_out(tree.root, tree.root / path))
    throw Error(ExitCode::input, {path, 0, 0, ""}, "the link points to a file outside of the imported folder",
                "put a copy in its place");
  std::optional<std::string> text = tree.files.read(tree.root / path, kMaxDefinitionBytes);
  if (!text) throw Error(ExitCode::input, {path, 0, 0, ""}, "the link points to a file that does not exist");
  std::size_t odd = first_not_utf8(*text);
  if (odd != std::string::npos)
    throw Error(ExitCode::input, {path, 0, 0, ""}, fmt::format("the file is not UTF-8: byte {}", odd + 1),
                "convert it with iconv");
  std::string out;
  for (std::size_t i = 0; i < text->size(); ++i)
    if ((*text)[i] != '\r' || i + 1 == text->size() || (*text)[i + 1] != '\n') out += (*text)[i];
  std::vector<RedactedSecret> secrets;
  out = redacted(out, secrets);
  if (notes != nullptr)
    for (const RedactedSecret& one : secrets)
      notes->push_back({path, one.line, "secret", secret_text(one.what)});
  return out;
}

std::string copy_from_tree(const LegacyTree& tree, LegacyImage& image, const std::string& source, int line) {
  std::string plain = fs::path(source).lexically_normal().string();
  while (plain.starts_with('/')) plain.erase(0, 1);
  while (plain.ends_with('/')) plain.pop_back();
  if (plain.starts_with("..") || plain.find_first_of("*?[$") != std::string::npos ||
      source.starts_with("/")) {
    image.note(line, "local-file",
               fmt::format("'{}' is copied from outside of this folder, or by a pattern", source));
    return "";
  }
  fs::path beside = fs::path(image.path).parent_path() / plain;
  if (plain == "." || plain.empty()) {
    image.note(line, "local-file", "the whole folder is copied");
    return "";
  }
  fs::path from = tree.files.exists(tree.root / beside) ? tree.root / beside : tree.root / plain;
  auto folder = tree.file_folders.find(image.path);
  std::string to = fmt::format(
      "files/{}/{}", folder == tree.file_folders.end() ? component_name(image.stem) : folder->second, plain);
  return copy_one(tree, image, from, to, line) ? to : "";
}

std::vector<std::string> matching_sources(const LegacyTree& tree, const LegacyImage& image,
                                          const std::string& source) {
  const fs::path pattern = fs::path(source);
  const std::string name = pattern.filename().string();
  const fs::path folder = pattern.parent_path();
  std::vector<std::string> found;
  if (name.find_first_of("*?[") == std::string::npos ||
      folder.string().find_first_of("*?[$") != std::string::npos || source.starts_with("/") ||
      folder.lexically_normal().string().starts_with(".."))
    return {source};
  for (const fs::path& start : {fs::path(image.path).parent_path(), fs::path()}) {
    for (const std::string& one : tree.files.list(tree.root / start / folder))
      if (fnmatch(name.c_str(), one.c_str(), FNM_NOESCAPE) == 0) found.push_back((folder / one).string());
    if (!found.empty()) return found;
  }
  return {source};
}

std::string make_runnable(const LegacyImage& image, const std::string& taken,
                          const std::string& destination) {
  const std::string name(last_part(taken));
  const std::string end = destination.ends_with('/') ? "" : "/";
  std::string places;
  for (const std::string& program : image.programs) {
    if (program != taken && !program.starts_with(taken + "/")) continue;
    const std::string below = program.substr(taken.size());  // "" or "/rest"
    places += " " + shell_text_word(destination + end + name + below);
    if (!below.empty()) places += " " + shell_text_word(destination + end + below.substr(1));
    if (below.empty() && !end.empty()) places += " " + shell_text_word(destination);
  }
  if (places.empty()) return "";
  return fmt::format(
      "for kiln_file in{}; do\n  if [ -f \"$kiln_file\" ]; then chmod a+x \"$kiln_file\"; fi\ndone", places);
}

}  // namespace kiln
