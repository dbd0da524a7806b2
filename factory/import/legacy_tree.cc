// The definitions of a folder, and the local files that they copy.
#include <fmt/format.h>

#include <algorithm>

#include "base/reading.h"
#include "base/text.h"
#include "import/legacy_image.h"
#include "import/legacy_names.h"
#include "source/file_names.h"

namespace kiln {
namespace {

constexpr int kMaxFolders = 16;  // links may lead in circles
constexpr std::size_t kMaxLocalBytes = 16u << 20;

void find_in(const FileSystem& files, const fs::path& root, const fs::path& folder, int depth,
             std::vector<std::string>& paths) {
  if (depth > kMaxFolders) return;
  for (const std::string& name : files.list(root / folder)) {
    if (name.starts_with('.')) continue;
    fs::path path = folder / name;
    if (files.is_directory(root / path)) {
      find_in(files, root, path, depth + 1, paths);
    } else if (is_dockerfile_name(name) || is_definition_name(name)) {
      paths.push_back(path.string());
    }
  }
}

bool take_file(const LegacyTree& tree, LegacyImage& image, const fs::path& from, const std::string& to,
               int line) {
  if (!is_recipe_path(to)) {
    image.note(line, "local-file", fmt::format("'{}' is not a name that a recipe's file may have", to));
    return false;
  }
  if (tree.files.is_directory(from)) {
    bool all = true;
    for (const std::string& name : tree.files.list(from))
      all = take_file(tree, image, from / name, to + "/" + name, line) && all;
    return all;
  }
  try {
    auto bytes = tree.files.read(from, kMaxLocalBytes);
    if (bytes) image.files[to] = std::move(*bytes);
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
  if (path.find("//") != std::string_view::npos) return false;
  for (const fs::path& part : fs::path(path)) {
    std::string name = part.string();
    bool plain =
        !name.empty() && name != "." && name != ".." && name[0] != '-' &&
        std::all_of(name.begin(), name.end(), [](char c) {
          return is_letter_or_digit(c) || std::string_view("_.+-@").find(c) != std::string_view::npos;
        });
    if (!plain) return false;
  }
  return !path.empty();
}

void LegacyImage::set_environment(const std::string& name, const std::string& value, int line) {
  facts.settings[name] = {value, line};
  if (name == "DEBIAN_FRONTEND")
    return note(line, "build-environment",
                "DEBIAN_FRONTEND: kiln sets it while it builds, and not in the image");
  bool one_line = std::none_of(value.begin(), value.end(), is_control);
  if (!one_line)
    return note(line, "environment", fmt::format("the value of {} is no single line of text", name));
  environment[name] = {value, line};
}

LegacyTree find_definitions(const FileSystem& files, const fs::path& root) {
  LegacyTree tree{files, root, {}};
  find_in(files, root, "", 0, tree.paths);
  std::sort(tree.paths.begin(), tree.paths.end());
  return tree;
}

std::string take_local(const LegacyTree& tree, LegacyImage& image, const std::string& source, int line) {
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
  std::string to = "files/" + component_name(image.stem) + "/" + plain;
  return take_file(tree, image, from, to, line) ? to : "";
}

}  // namespace kiln
