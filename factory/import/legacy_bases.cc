#include "factory/import/legacy_bases.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/import/legacy_names.h"
#include "factory/import/legacy_script.h"
#include "factory/oci/documents.h"

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
  if (std::ranges::any_of(paths, fits))
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
  prefer(makers, [&](const std::string& one) { return contains(last_part(one), name); });
  if (makers.size() == 1) return makers[0];
  throw Error(ExitCode::input, {path, 0, 0, ""},
              fmt::format("several definition files make '{}': {}", from, fmt::join(makers, ", ")),
              how_to_give_base(from));
}

void LegacyImage::note_given_base(const std::string& written, const std::string& given, int line) {
  given_bases.insert(written);
  note(line, "given-base", fmt::format("{} takes the place of '{}'", given, written));
}

void LegacyImage::note_build_base(const std::string& build, int line) {
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

namespace {

// Around a variable's name. No line of a definition holds control characters that matter.
constexpr char kBegin = '\x01';
constexpr char kEnd = '\x02';

constexpr std::string_view kConda = "/opt/conda/bin:";
constexpr std::string_view kNvidia = "/usr/local/nvidia/bin:/usr/local/cuda/bin:";
constexpr std::string_view kNvidiaLibraries = "/usr/local/nvidia/lib:/usr/local/nvidia/lib64";

struct KnownBase {
  std::string_view repository;  // as Docker Hub shortens it
  std::string_view path;        // in front of the usual PATH
  std::string_view libraries = {};
  std::string_view folder = "/";
};
constexpr KnownBase kBases[] = {
    {"almalinux", ""},
    {"amazonlinux", ""},
    {"centos", ""},
    {"debian", ""},
    {"fedora", ""},
    {"opensuse/leap", ""},
    {"rockylinux", ""},
    {"ubuntu", ""},
    {"python", "/usr/local/bin:"},
    {"golang", "/go/bin:/usr/local/go/bin:", "", "/go"},
    {"rust", "/usr/local/cargo/bin:"},
    {"julia", "/usr/local/julia/bin:"},
    {"continuumio/anaconda3", kConda},
    {"continuumio/miniconda3", kConda},
    {"condaforge/mambaforge", kConda},
    {"condaforge/miniforge3", kConda},
    {"nvidia/cuda", kNvidia, kNvidiaLibraries},
    {"nvcr.io/nvidia/cuda", kNvidia, kNvidiaLibraries},
    {"pytorch/pytorch", "/opt/conda/bin:/usr/local/nvidia/bin:/usr/local/cuda/bin:", kNvidiaLibraries,
     "/workspace"},
};

// "nvidia/cuda" of "docker.io/nvidia/cuda:12.4.1-base".
std::string_view repository_of(std::string_view reference) {
  reference = reference.substr(0, reference.find('@'));
  reference = reference.substr(0, reference.find(':', reference.rfind('/') + 1));
  for (std::string_view front : {"docker.io/", "index.docker.io/", "library/"})
    if (reference.starts_with(front)) reference.remove_prefix(front.size());
  return reference;
}

// Stands for the base's value of this variable.
std::string marked(std::string_view name) { return kBegin + std::string(name) + kEnd; }

// `text` with what `of` says in the place of each mark; it may take separators off the text so far, and off
// the rest.
std::string without_marks(
    std::string_view text,
    const std::function<std::string(std::string_view, std::string&, std::string_view&)>& of) {
  std::string out;
  while (!text.empty()) {
    const std::size_t begin = text.find(kBegin);
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = text.find(kEnd, begin);
    const std::string_view name =
        text.substr(begin + 1, end == std::string_view::npos ? end : end - begin - 1);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    out += of(name, out, text);
  }
  return out;
}

}  // namespace

BaseValues base_values_of(std::string_view reference) {
  const std::string_view repository = repository_of(reference);
  const auto* known = std::ranges::find(kBases, repository, &KnownBase::repository);
  if (known == std::end(kBases)) return {};
  BaseValues values;
  values.known = true;
  values.environment["PATH"] = std::string(known->path) + kDefaultPath;
  if (!known->libraries.empty()) values.environment["LD_LIBRARY_PATH"] = known->libraries;
  values.folder = known->folder;
  return values;
}

std::optional<std::string> value_from_base(LegacyImage& image, std::string_view name, const BaseValues& base,
                                           int line) {
  const bool path = name.ends_with("PATH");  // a list of folders that files add to
  if (path && base.environment.contains(std::string(name))) return marked(name);
  if (path && base.known) return std::nullopt;
  if (name == "PATH") {
    image.note(line, "base-path",
               "the base's PATH is not known here: {PATH} takes its place, the usual one unless the base's "
               "recipe has another");
  } else {
    image.note(line, "unset-variable", fmt::format("${} has no value in this file", name));
  }
  return path ? std::optional(marked(name)) : std::nullopt;
}

std::string image_value(std::string_view name, std::string_view marked, const BaseValues& base) {
  bool placed = false;  // a recipe's {PATH} is replaced once
  std::string value = without_marks(marked, [&](std::string_view inherited, std::string&, std::string_view&) {
    if (auto found = base.environment.find(std::string(inherited)); found != base.environment.end())
      return found->second;
    if (inherited != "PATH") return std::string();
    const bool first = name == "PATH" && !placed;
    placed = true;
    return std::string(first ? "{PATH}" : kDefaultPath);
  });
  return without_open_end(name, std::move(value));
}

std::string script_word(std::string_view marked) {
  // Quoted parts and expansions side by side are one word of the shell.
  std::string word;
  std::string rest =
      without_marks(marked, [&](std::string_view name, std::string& before, std::string_view& after) {
        const bool behind = before.ends_with(':');
        const bool in_front = !behind && after.starts_with(':');
        if (behind) before.pop_back();
        if (in_front) after.remove_prefix(1);
        if (!before.empty()) word += shell_text_word(before);
        before.clear();
        word += behind     ? fmt::format("\"${{{0}:+:${0}}}\"", name)
                : in_front ? fmt::format("\"${{{0}:+${0}:}}\"", name)
                           : fmt::format("\"${{{0}-}}\"", name);
        return std::string();
      });
  if (!rest.empty() || word.empty()) word += shell_text_word(rest);
  return word;
}

}  // namespace kiln
