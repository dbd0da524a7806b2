#include "factory/import/legacy_local_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/import/legacy_names.h"

namespace kiln {
namespace {

// "base" of "./base/", "../images/base.sif" and "base.simg".
std::string without_image_ending(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  const std::string lower = lower_case(path);
  for (std::string_view ending : {".sif", ".simg", ".img", ".sqsh", ".sqfs", ".squashfs", ".sandbox"})
    if (lower.ends_with(ending)) {
      path.resize(path.size() - ending.size());
      break;
    }
  return path;
}

// "a/base" of "a/base.def".
std::string without_format(const std::string& path) {
  return (fs::path(path).parent_path() / stem_of(path)).string();
}

// How many folders of `path`'s way down lead to `other` as well; none when `other` lies beside the way.
std::ptrdiff_t nearness(const std::string& path, const std::string& other) {
  const fs::path own = fs::path(path).parent_path();
  const fs::path folder = fs::path(other).parent_path();
  if (std::mismatch(folder.begin(), folder.end(), own.begin(), own.end()).first != folder.end()) return -1;
  return std::distance(folder.begin(), folder.end());
}

// Only those that fit, when any does.
void prefer(std::vector<std::string>& paths, const std::function<bool(const std::string&)>& fits) {
  if (std::any_of(paths.begin(), paths.end(), fits))
    std::erase_if(paths, [&](const std::string& path) { return !fits(path); });
}

}  // namespace

std::string maker_of_local_image(const LegacyTree& tree, const std::string& path, const std::string& from) {
  const std::string wanted = without_image_ending(from);
  const std::string name(last_part(wanted));
  std::vector<std::string> makers;
  for (const std::string& other : tree.paths) {
    const FormName form = form_name_of(other);
    if (!form.docker && other != path && !name.empty() && form.stem == lower_case(name))
      makers.push_back(other);
  }
  if (makers.empty()) return "";
  // Apptainer looks from the folder in which it runs, which is not written down.
  for (const fs::path& start : {fs::path(path).parent_path(), fs::path()}) {
    if (start.empty() && !fs::path(wanted).lexically_normal().has_parent_path()) break;  // says nothing
    const std::string there = (start / wanted).lexically_normal().string();
    prefer(makers, [&](const std::string& one) { return without_format(one) == there; });
  }
  std::ptrdiff_t nearest = -1;
  for (const std::string& one : makers) nearest = std::max(nearest, nearness(path, one));
  prefer(makers, [&](const std::string& one) { return nearness(path, one) == nearest; });
  prefer(makers, [&](const std::string& one) { return last_part(one).find(name) != std::string_view::npos; });
  if (makers.size() == 1) return makers[0];
  throw Error(ExitCode::input, {path, 0, 0, ""},
              fmt::format("'{}' is made by {}, and none is nearer", from, fmt::join(makers, ", ")),
              how_to_give_base(from));
}

void LegacyImage::take_given_base(const std::string& written, const std::string& given, int line) {
  given_bases.insert(written);
  note(line, "given-base", fmt::format("{} takes the place of '{}'", given, written));
}

void LegacyImage::take_build_base(const std::string& build, int line) {
  if (build == base.value || build == build_base.value) return;
  if (build_base.value.empty()) {
    build_base = {build, line};
    return;
  }
  note(line, "build-base",
       fmt::format("one build stage starts from {}, another from {}: both get the latter's", build,
                   build_base.value));
}

std::string given_base(const LegacyTree& tree, const std::string& from, bool library) {
  auto given = tree.bases.find(from);
  if (given == tree.bases.end() && library) given = tree.bases.find(other_library_form(from));
  return given == tree.bases.end() ? "" : given->second;
}

std::string other_library_form(const std::string& from) {
  return from.starts_with("library://") ? from.substr(10) : "library://" + from;
}

std::string how_to_give_base(const std::string& from) {
  return "say which image of a registry takes its place: --base " +
         shell_text_word(from + "=REGISTRY/IMAGE:TAG");
}

}  // namespace kiln
