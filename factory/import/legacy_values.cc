#include "factory/import/legacy_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "factory/base/quote.h"
#include "factory/import/legacy_script.h"
#include "factory/oci/documents.h"

namespace kiln {
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
  const std::size_t slash = reference.rfind('/');
  const std::size_t colon = reference.rfind(':');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash))
    reference = reference.substr(0, colon);
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
  const auto* known = std::find_if(std::begin(kBases), std::end(kBases),
                                   [&](const KnownBase& one) { return one.repository == repository; });
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
